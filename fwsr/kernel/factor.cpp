#include "fwsr/kernel/factor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "fwsr/base/at.hpp"
#include "fwsr/base/index_range.hpp"
#include "fwsr/kernel/factor_columns.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/kernel/middle_row.hpp"

namespace fwsr {

namespace {

using namespace detail;

/// The landmarks less what is taken from all points (middle_row.hpp).
struct LandmarkRows {
  std::vector<double> shift, rows;
};
LandmarkRows landmark_rows(const Points& points, const std::vector<Index>& landmarks,
                           bool squared) {
  const Index d = points.dim();
  LandmarkRows found{.shift = std::vector<double>(at(d)),
                     .rows = std::vector<double>(landmarks.size() * at(d))};
  for (std::size_t j = 0; j < landmarks.size(); ++j)
    points.row(landmarks[j], found.rows.data() + j * at(d));
  if (!squared) return found;
  found.shift = middle_row(found.rows, d);
  for (std::size_t l = 0; l < found.rows.size(); ++l) found.rows[l] -= found.shift[l % at(d)];
  return found;
}

/// Fills out (n x landmarks) with unit^2 K[:, L], block by block, and calls finish(rows) on each: `height` rows in the
/// layout of out, of which count() are points.
template <class T, class Finish>
void for_columns(const KernelMatrix& exact, const Points& points, const Kernel& kernel,
                 const std::vector<Index>& landmarks, double unit, T* out, int threads,
                 Finish&& finish) {
  const Index n = exact.size();
  const auto r = static_cast<Index>(landmarks.size());
  const Index height = sweep_height(n);
  const KernelFormula& formula = formula_of(kernel.type);
  if (points.sparse() || !formula.column_times) {
    sweep_rows<double>(
        n, height, r, out, threads,
        [&](const BlockRows<double>& to) {
          const std::vector<double> values =
              exact.values(landmarks, index_range(to.first, to.last),
                           Eta::left_out);  // L first: runs of points
          const Index rows = to.count();
          for (Index i = 0; i < rows; ++i)
            for (Index j = 0; j < r; ++j)
              to.all[i * r + j] = values[at(j * rows + i)] * unit * unit;
        },
        finish);
    return;
  }
  const bool squared = formula.of == KernelOf::squared_distances;
  const LandmarkRows at_landmarks = landmark_rows(points, landmarks, squared);
  const double all = unit * exact.unit();
  const FewRows few{.formula = formula,
                    .numbers = numbers_of(kernel, points.unit(), {.factor = all * all}),
                    .shift = at_landmarks.shift,
                    .rows = at_landmarks.rows};
  const auto by_products = [&](auto number) {
    const ProductColumns<decltype(number)> columns(points, few);
    sweep_rows<decltype(number)>(
        n, height, r, out, threads, [&](const auto& rows) { columns.fill(rows, height); }, finish);
  };
  if (std::is_same_v<T, float> && squared && ProductColumns<T>(points, few).farthest(threads) > far)
    by_products(double{});
  else
    by_products(T{});
}

}  // namespace

Factor::Factor(Index size, Landmarks chosen, double largest)
    : size_(size), landmarks_(std::move(chosen.points)), lower_(std::move(chosen.lower)) {
  if (largest > 0) unit_ = std::ldexp(1.0, -std::ilogb(std::sqrt(largest)));
  for (double& v : lower_) v *= unit_;
}

// An error of e in K_nL makes one of e^2 / this in F F^T.
double Factor::least_pivot(bool single) {
  return single ? 1e-6 : 1e-13;
}

namespace {

double largest_diagonal(const KernelMatrix& kernel) {
  double largest = 0;
  for (Index i = 0; i < kernel.size(); ++i)
    largest = std::max(largest, kernel.diagonal(i, Eta::left_out));
  return largest;
}

}  // namespace

Factor::Factor(const KernelMatrix& exact, const Points& points, const Kernel& kernel, Index rank,
               bool single, int threads, const KeepGoing& keep_going)
    : Factor(exact.size(), choose_landmarks(exact, rank, least_pivot(single), threads, keep_going),
             largest_diagonal(exact)) {
  const Index cells = checked_bytes(size_, this->rank(), 1);
  if (single) {
    single_.reset(new float[at(cells)]);
    fill(exact, points, kernel, single_.get(), threads, keep_going);
  } else {
    double_.reset(new double[at(cells)]);
    fill(exact, points, kernel, double_.get(), threads, keep_going);
  }
}

void Factor::tell_error(double lost, double trace) {
  error_ = trace > 0 ? std::clamp(lost / trace, 0.0, 1.0) : 0.0;
}

template <class T>
void Factor::fill(const KernelMatrix& exact, const Points& points, const Kernel& kernel, T* out,
                  int threads, const KeepGoing& keep_going) {
  const Index r = rank();
  const Substitution<T> substitute(lower_, r);
  const Index height = sweep_height(size_);
  const std::size_t blocks = at(block_count(size_, height));
  std::vector<double> lost(blocks), trace(blocks);
  for_columns<T>(
      exact, points, kernel, landmarks_, unit_, out, threads, [&](const BlockRows<T>& rows) {
        throw_if_cancelled(keep_going);
        substitute(rows.all, height);
        const std::size_t b = at(rows.first / height);
        for (Index i = 0; i < rows.count(); ++i) {
          const double self = exact.diagonal(rows.first + i, Eta::left_out) * unit_ * unit_;
          trace[b] += self;
          lost[b] += self - squared_norm_of(rows.all + i * r, r);
        }
      });
  tell_error(std::accumulate(lost.begin(), lost.end(), 0.0),
             std::accumulate(trace.begin(), trace.end(), 0.0));
}

PointsView Factor::rows() const {
  const Index r = rank();
  if (single_) return MatrixView<const float>{single_.get(), size_, r, r};
  return MatrixView<const double>{double_.get(), size_, r, r};
}

void Factor::to_landmarks(double* theta, Index rows) const {
  divide_by_lower(lower_, rank(), theta, rows);
}

namespace {

/// The linear kernel of the rows of F, in the units of the kernel it stands for.
class FactorKernel final : public KernelMatrix {
 public:
  FactorKernel(const Factor& factor, std::unique_ptr<KernelMatrix> rows, const KernelMatrix& exact)
      : products_(std::move(rows)),
        unit_(products_->unit() * factor.unit() * exact.unit()),
        rms_norm_(products_->unit() * factor.unit() * exact.rms_norm()) {}

  Index size() const override { return products_->size(); }
  double unit() const override { return unit_; }
  double eta() const override { return products_->eta(); }
  double rms_norm() const override { return rms_norm_; }
  Index row_block() const override { return products_->row_block(); }
  bool single() const override { return products_->single(); }
  double diagonal(Index i, Eta eta) const override { return products_->diagonal(i, eta); }
  void scan(Index first, Index last, const VisitTile& visit) const override {
    products_->scan(first, last, visit);
  }
  std::vector<double> values(std::span<const Index> rows, std::span<const Index> columns,
                             Eta eta) const override {
    return products_->values(rows, columns, eta);
  }
  void column(Index j, std::span<double> out) const override { products_->column(j, out); }
  bool by_products() const override { return true; }
  void multiply(std::span<const double> x, std::span<double> out, int threads) const override {
    products_->multiply(x, out, threads);
  }

 private:
  std::unique_ptr<KernelMatrix> products_;
  double unit_;
  double rms_norm_;
};

}  // namespace

std::unique_ptr<KernelMatrix> make_factor_kernel(const Factor& factor,
                                                 std::unique_ptr<KernelMatrix> rows,
                                                 const KernelMatrix& exact) {
  return std::make_unique<FactorKernel>(factor, std::move(rows), exact);
}

}  // namespace fwsr
