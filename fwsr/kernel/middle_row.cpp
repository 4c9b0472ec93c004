#include "fwsr/kernel/middle_row.hpp"

#include <algorithm>

#include "fwsr/base/at.hpp"

namespace fwsr {

std::vector<double> middle_row(const std::vector<double>& rows, Index d) {
  std::vector<double> middle(at(d)), column(d > 0 ? rows.size() / at(d) : 0);
  for (std::size_t l = 0; l < at(d) && !column.empty(); ++l) {
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = rows[i * at(d) + l];
    const auto half = column.begin() + std::ssize(column) / 2;
    std::nth_element(column.begin(), half, column.end());
    middle[l] = *half;
  }
  return middle;
}

std::vector<double> middle_of(const Points& points) {
  const Index n = points.size(), d = points.dim(), some = std::min<Index>(n, 257);
  std::vector<double> rows(at(some * d));
  for (Index s = 0; s < some; ++s) points.row(s * n / some, rows.data() + s * d);
  return middle_row(rows, d);
}

}  // namespace fwsr
