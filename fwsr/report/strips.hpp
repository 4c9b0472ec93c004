// Exemplars of several answers, one line each. Internal.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fwsr/report/rows.hpp"

namespace fwsr::report {

struct Strip {
  std::string name;
  std::vector<Index> rows;
  std::string note = {};  // beside the name
};

/// A page around the strips, with fewer points of each and shorter texts until it is small enough.
std::string with_strips(const Rows& rows, const std::vector<Strip>& strips,
                        const std::function<std::string(const std::string& strips)>& page);

}  // namespace fwsr::report
