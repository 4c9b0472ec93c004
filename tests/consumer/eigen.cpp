#include "eigen.hpp"

#include <cstdint>
#include <cstdio>
#include <vector>

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include <fwsr/fwsr.hpp>

namespace {

std::vector<fwsr::Index> chosen(const fwsr::PointsView& points) {
  return fwsr::select(points, {.exemplars = 3, .center = fwsr::Center::none}).exemplars;
}

}  // namespace

bool eigen_works() {
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Rows rows(20, 3);
  for (Eigen::Index i = 0; i < 20; ++i)
    for (Eigen::Index j = 0; j < 3; ++j) rows(i, j) = static_cast<double>((3 * i + j) * 37 % 19);
  const Eigen::MatrixXd columns = rows.transpose();  // its columns are the points
  const Eigen::Map<const Rows> map(rows.data(), 20, 3);
  Rows wide(20, 5);
  wide.setConstant(99);
  wide.block(0, 1, 20, 3) = rows;
  const auto block = wide.block(0, 1, 20, 3);
  const Eigen::SparseMatrix<double, Eigen::RowMajor> sparse = rows.sparseView(0, -1);
  const Eigen::SparseMatrix<double, Eigen::ColMajor, std::int64_t> sparse_columns =
      sparse.transpose();

  const auto picks = chosen(fwsr::MatrixView<const double>{rows.data(), 20, 3});
  const bool same = picks.size() == 3 && chosen(fwsr::view(rows)) == picks &&
                    chosen(fwsr::view(map)) == picks && chosen(fwsr::view(block)) == picks &&
                    chosen(fwsr::view(sparse)) == picks &&
                    chosen(fwsr::view_of_columns(columns)) == picks &&
                    chosen(fwsr::view_of_columns(sparse_columns)) == picks;
  std::printf("matrices of Eigen %s\n", same ? "give the same exemplars" : "give OTHER exemplars");
  return same;
}
