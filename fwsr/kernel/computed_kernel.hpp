// Kernel values between any two lists of points, computed when they are asked for.
//
// In float the products of a block are one call of BLAS in float32, and entries stay within about
// 1e-6 of the largest diagonal entry: distances are between points moved to their mean, and where
// rounding of the inner products would show in the kernel they are computed in double
// (value_loops.hpp).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fwsr/kernel/formula.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/kernel/kernel_scale.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr {

class ComputedKernel {
 public:
  ComputedKernel(const Points& points, const Kernel& kernel, double eta, bool eta_relative,
                 int threads);

  Index size() const { return points_.size(); }
  const Points& points() const { return points_; }
  bool linear() const { return formula_.linear; }
  bool by_sparse_products() const {
    return points_.sparse() && formula_.of != KernelOf::absolute_distances;
  }
  double unit() const { return linear() ? points_.unit() : scale_.unit; }
  double eta() const { return linear() ? points_.eta() : scale_.eta; }
  double rms_norm() const { return linear() ? points_.rms_norm() : scale_.rms_norm; }
  double diagonal(Index i, Eta eta) const;

  using SparseBlocks = std::vector<std::unique_ptr<Points::SparseRows>>;

  /// Some points made ready for products.
  template <class T>
  struct Panel {
    std::vector<Index> chosen;
    Index height = 0;           // rows, with zeros behind those chosen
    std::unique_ptr<T[]> rows;  // height x dim, dense
    Index room = 0;             // rows that fit there
    std::vector<T> norms;       // for squared distances: of the moved points
    SparseBlocks sparse;        // or these, when on the left
  };
  enum class Side { left, right };
  template <class T>
  Panel<T> load(std::span<const Index> chosen, Side side, Index height) const;
  /// Points first .. last, in the memory that `panel` has.
  template <class T>
  void load(Index first, Index last, Side side, Panel<T>& panel) const;

  /// out[r, c] = K(left.chosen[r], right.chosen[c]), rows `stride` apart.
  template <class T>
  void fill(const Panel<T>& left, const Panel<T>& right, T* out, Index stride, Eta eta) const;

  /// K at rows x columns in double, row by row.
  std::vector<double> values(std::span<const Index> rows, std::span<const Index> columns,
                             Eta eta) const;

 private:
  template <class T>
  void dense_products(const Panel<T>& left, const Panel<T>& right, T* out, Index stride,
                      Eta eta) const;
  void sparse_products(const SparseBlocks& left, Index rows, std::span<const Index> right,
                       double* out, Index stride, Eta eta) const;
  template <class T>
  void load_chosen(Side side, Panel<T>& panel) const;
  template <class T>
  Index finish(const Panel<T>& left, const Panel<T>& right, T* out, Index stride, Eta eta) const;
  void settle_far(const Panel<double>& left, const Panel<double>& right, double* out, Index stride,
                  Eta eta) const;
  void settle(const Panel<float>& left, const Panel<float>& right, Index unsettled, float* out,
              Index stride, Eta eta) const;
  void fill_in_double(const Panel<float>& left, const Panel<float>& right, float* out, Index stride,
                      Eta eta) const;
  void moved_row(Index i, double* out) const;
  void move_to_middle(int threads);
  void set_scale(double eta, bool eta_relative);
  double raw_diagonal(Index i) const;
  bool squared() const { return formula_.of == KernelOf::squared_distances; }
  /// For values times unit^2, with eta where it is asked for.
  KernelNumbers scaled(Eta eta) const {
    KernelNumbers numbers = numbers_;
    numbers.scale = {.factor = scale_.unit * scale_.unit,
                     .extra = eta == Eta::included ? scale_.eta * scale_.eta : 0.0};
    return numbers;
  }
  /// How many rows a product in double is given in fact, zeros behind the last one.
  static Index padded(Index rows);

  const Points& points_;
  Kernel kernel_;
  const KernelFormula& formula_;
  KernelNumbers numbers_;        // in the points' scaled units
  bool only_in_double_ = false;  // float32 products would not carry the kernel's digits
  KernelScale scale_;            // of all but the linear kernel, which has that of the points
  std::vector<double> middle_;   // taken from the points, for distances; empty: nothing was
  std::vector<double> norms_;    // for squared distances: of the moved points
};

template <>
void ComputedKernel::fill(const Panel<float>& left, const Panel<float>& right, float* out,
                          Index stride, Eta eta) const;
template <>
void ComputedKernel::fill(const Panel<double>& left, const Panel<double>& right, double* out,
                          Index stride, Eta eta) const;

}  // namespace fwsr
