// The JSON result of an earlier `fwsr select`: of which data it is, how to read that again, and how it was chosen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/data_arguments.hpp"
#include "apps/json.hpp"
#include "fwsr/base/result.hpp"

namespace CLI {
class App;
}

namespace fwsr::app {

struct OldResult {
  std::string file;             // that it stands in
  std::string name;             // of its data
  DataArguments data;           // how to read its points again
  Index own = 0, features = 0;  // points in that file, behind which come ...
  Index represented = 0;        // ... those that were represented in their place, and ...
  std::string include,
      include_points;  // ... those that were included, from these other files or results
  std::vector<Index> exemplars;
  std::vector<std::string> checksums;  // of the exemplars; empty: none were written
  Json options, plan, gamma;

  /// Whether an exemplar is a point of another file than its data.
  bool is_foreign(Index exemplar) const { return exemplar >= own; }
};

/// A Failure when the file is no such result.
Result<OldResult> read_old_result(const std::string& path);

/// How a result is to be read again: what `read_old_result` finds in its part `data`.
Json reading_json(const DataArguments& arguments);

/// Another set of points, read as `from` says; its labels and ids are of no use here. @throws Error
Dataset load_other(const DataArguments& from, const std::string& path);

/// Whether a list of points is a result with exemplars that are no points of its data: fwsr update writes such.
bool lists_foreign_points(const std::string& list);

/// The points behind all others that are included: those of a list that are no points of its data, then those of
/// --include-points, a file or a result whose exemplars are looked up. Nothing: there are none. @throws Error, also when
/// exemplars are not what they were
std::optional<Dataset> included_points(const std::string& include,
                                       const std::string& include_points,
                                       const DataArguments& from);

/// Method, kernel and options of the run that chose, where the command line says nothing else. With another method
/// only what is done to the points, and the kernel where it has one. @throws UsageError
void keep_choice(const CLI::App& app, const OldResult& old, std::string& method,
                 SelectOptions& options, std::uint64_t& seed);

}  // namespace fwsr::app
