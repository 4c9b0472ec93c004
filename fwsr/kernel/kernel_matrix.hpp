// K, the matrix of kernel values between all points, whatever holds or computes it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/base/keep_going.hpp"
#include "fwsr/kernel/kernel.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr {

/// One tile of K: rows first .. last as the caller asked, columns begin .. end.
using VisitTile = std::function<void(Index begin, Index end, const double* tile, Index stride)>;

/// The eta term (+ eta^2 in every entry) is part of K unless said otherwise.
enum class Eta { included, left_out };

/// U^T Theta V, which explains a part of K.
struct Explained {
  Index m = 0;
  const double* u = nullptr;      // m rows of n numbers
  const double* theta = nullptr;  // m x m; null: the identity
  Index theta_stride = 0;
  const double* v = nullptr;  // m rows of n numbers
};
/// Of what is left of every row, p_i = k_i - u_i^T Theta V: sum_l s_l p_il^2 and sum_l s_l p_il K_il.
struct LeftSums {
  std::span<double> squares;
  std::span<double> with_k = {};  // empty: not asked for
};

/// Symmetric, positive semi-definite, scaled by one power of four so that the largest diagonal
/// entry is near 1: K here = unit()^2 x the true one. All members may be called from many threads.
class KernelMatrix {
 public:
  virtual ~KernelMatrix() = default;

  virtual Index size() const = 0;
  virtual double unit() const = 0;
  virtual double diagonal(Index i, Eta eta = Eta::included) const = 0;
  /// The same of some points: one question where they live somewhere else, not one for each.
  virtual std::vector<double> diagonals(std::span<const Index> points,
                                        Eta eta = Eta::included) const;
  /// True when the entries are float32 numbers, within about 1e-6 of the true ones.
  virtual bool single() const = 0;
  /// Of a matrix that others made: e, when its entries may be off by e sqrt(K_ii K_jj), and it may be no
  /// kernel for all we know (check_given.hpp). 0 of the kernels computed here.
  virtual double entry_error() const { return 0; }
  /// Rows first .. last, tile by tile from left to right. @pre one of the blocks of row_block() rows
  virtual void scan(Index first, Index last, const VisitTile& visit) const = 0;
  virtual Index row_block() const = 0;
  /// K at rows x columns, row by row.
  virtual std::vector<double> values(std::span<const Index> rows, std::span<const Index> columns,
                                     Eta eta = Eta::included) const = 0;
  /// Column j of K (it is also row j).
  virtual void column(Index j, std::span<double> out) const;
  /// Whether K x takes products with the vectors that K is of, and no entries of K.
  virtual bool by_products() const { return false; }
  /// K x.
  virtual void multiply(std::span<const double> x, std::span<double> out, int threads) const;
  /// K x for `count` vectors x of n numbers, one after the other, as the answers are. The bits of an answer do not tell
  /// which others it was found beside.
  virtual void multiply_many(std::span<const double> x, Index count, std::span<double> out,
                             int threads, const KeepGoing& keep_going) const;
  /// Where points count by `weights` s, or 1 each where these are empty.
  virtual void sum_left(const Explained& explained, const std::vector<double>& weights,
                        const LeftSums& to, int threads, const KeepGoing& keep_going) const;
  /// ||k_i||^2 of every row.
  virtual void row_squares(std::span<double> out, int threads) const;
  /// sum_l weights_l K_il^2 of every row; no weights: 1 each.
  virtual void weighted_row_squares(const std::vector<double>& weights, std::span<double> out,
                                    int threads) const;
  void row_squares(std::span<double> out, int threads, const std::vector<double>& weights) const;

  /// The root-mean-square norm sqrt(mean K_ii) without eta, and eta, both times unit().
  virtual double rms_norm() const = 0;
  virtual double eta() const = 0;
};

struct TileOptions {
  double eta = 0;             // of kernels other than the linear one, whose eta is in the points
  bool eta_relative = false;  // in units of sqrt(mean K_ii)
  bool single = false;        // entries in float32
  int threads = 1;            // for norms and means
  KeepGoing keep_going = {};  // asked at every row of tiles
};
/// K computed on the fly, in tiles. Cosine: points with Preprocessing::normalize and
/// KernelType::linear.
/// @pre kernel.gamma is set for kernels that have one, in the data's units
std::unique_ptr<KernelMatrix> make_tiled_kernel(const Points& points, const Kernel& kernel,
                                                const TileOptions& options);

/// One half of the n x n matrix of a tiled one, computed once and held; no larger than this.
std::unique_ptr<KernelMatrix> make_held_kernel(const KernelMatrix& tiled, int threads);
double held_kernel_bytes(double n, bool single);

/// A matrix given by the user, used in place. Throws Error when it is not square, not finite, not
/// symmetric, or seen to be no kernel (check_given.hpp).
std::unique_ptr<KernelMatrix> make_given_kernel(const PointsView& view,
                                                std::span<const Index> subset, double eta,
                                                bool eta_relative, int threads);

/// The gamma for people who give none (kernel.hpp), from samples of 1000 evenly spaced points (width.hpp).
double default_gamma(const Points& points, KernelType type, int threads, const Width& wanted = {});

}  // namespace fwsr
