// Files that list points, and files with one number for every point.
#pragma once

#include <string>
#include <vector>

#include "fwsr/data/dataset.hpp"

namespace fwsr::app {

/// The points that a file lists, by row from 0 or by id (where ids are numbers, by id alone), in its order: one a line; a csv file with a header that has a
/// column `id` or `index`, as `fwsr select` writes it; a JSON result of it; or whole numbers in npy, npz, mat.
/// @throws Error with the file and the entry that is no point
std::vector<Index> read_point_list(const std::string& path, const Dataset& data);

/// The data that a JSON result of `fwsr select` is of.
struct OldData {
  std::string name;  // of its file
  Index points = 0, features = 0;
  Index own =
      0;  // of the points those in the file; then come so many that were represented in their place,
  Index represented = 0;      // and then those that were included ...
  std::string included_from;  // ... from this other file, or result
  std::vector<Index> exemplars;
};
/// A Failure when the file is no such result.
Result<OldData> data_of_result(const std::string& path);

/// One number for every point: one a line, or npy, npz, mat. `what` is called so in messages. @throws Error
std::vector<double> read_numbers(const std::string& path, const char* what, const Dataset& data);

}  // namespace fwsr::app
