#include "fwsr/solver/run_products.hpp"

namespace fwsr {

void column_and_product(const KernelMatrix& kernel, const std::vector<double>& weights, Index j,
                        const ColumnAndProduct& to, int threads) {
  kernel.column(j, to.column);
  if (weights.empty()) return kernel.multiply(to.column, to.product, threads);
  std::vector<double> weighted(to.column.begin(), to.column.end());
  for (std::size_t i = 0; i < weighted.size(); ++i) weighted[i] *= weights[i];
  kernel.multiply(weighted, to.product, threads);
}

}  // namespace fwsr
