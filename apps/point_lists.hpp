// Files that list points, and files with one number for every point.
#pragma once

#include <string>
#include <vector>

#include "fwsr/data/dataset.hpp"

namespace fwsr::app {

/// The points that a file lists, by row from 0 or by id (where ids are numbers, by id alone), in its order: one a line; a csv file with a header that has a
/// column `id` or `index`, as `fwsr select` writes it; a JSON result of it, whose exemplars from other
/// files are left out; or whole numbers in npy, npz, mat.
/// @throws Error with the file and the entry that is no point
std::vector<Index> read_point_list(const std::string& path, const Dataset& data);

/// One word for every point: one a line, or whole numbers in npy, npz, mat. `what` is called so in messages.
/// @throws Error
Labels read_words(const std::string& path, const char* what);

/// One number for every point: one a line, or npy, npz, mat. `what` is called so in messages. @throws Error
std::vector<double> read_numbers(const std::string& path, const char* what, const Dataset& data);

}  // namespace fwsr::app
