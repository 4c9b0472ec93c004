// Stands in for mat.cpp in a build without matio.
#include <fmt/format.h>

#include "fwsr/data/formats.hpp"
#include "fwsr/data/mat_scan.hpp"

namespace fwsr {

namespace {

Failure no_matio(const FileBytes& file) {
  return Failure{
      fmt::format("{}: is a MATLAB file, and this build reads none: install libmatio-dev "
                  "and configure with -DFWSR_MATIO=ON, or save the points as npy or csv",
                  file.name())};
}

}  // namespace

Result<std::vector<std::string>> mat_labels(const FileBytes& file) {
  return no_matio(file);
}

Format mat_format() {
  return {"mat", "MATLAB (.mat), not in this build", looks_like_mat,
          [](FileBytes file, const ReadOptions&) -> Result<Dataset> { return no_matio(file); },
          false};
}

}  // namespace fwsr
