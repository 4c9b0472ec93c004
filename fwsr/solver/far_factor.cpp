#include "fwsr/solver/far_factor.hpp"

#include <utility>

#include "fwsr/base/at.hpp"
#include "fwsr/kernel/middle_row.hpp"

namespace fwsr {

std::vector<Index> evenly_spaced(Index n, Index count) {
  std::vector<Index> places;
  for (Index i = 0; i < count; ++i) places.push_back(i * n / count);
  return places;
}

KernelTables kernel_tables(const Kernel& kernel, const PointFacts& facts, double times,
                           std::vector<double> rows, std::vector<double> lower) {
  std::vector<double> shift = middle_row(rows, facts.dim);
  KernelTables z{.kernel = kernel.type,
                 .gamma = numbers_of(kernel, facts.unit).gamma,
                 .times = times,
                 .dim = facts.dim,
                 .shift = std::move(shift),
                 .rows = std::move(rows),
                 .lower = std::move(lower)};
  for (std::size_t l = 0; l < z.rows.size(); ++l) z.rows[l] -= z.shift[l % at(z.dim)];
  return z;
}

}  // namespace fwsr
