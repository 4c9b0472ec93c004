#include "fwsr/kernel/check_given.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/members.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/linalg/lapack.hpp"

namespace fwsr {

namespace {

template <class View, class Source>
class KernelCheck {
  using T = std::remove_cvref_t<decltype(std::declval<View>()(0, 0))>;

 public:
  KernelCheck(const View& view, Source source, Index n, double entry_error, int threads)
      : view_(view), source_(source), n_(n), entry_error_(entry_error), threads_(threads) {}

  void run() {
    for (Index i = 0; i < n_; ++i)
      if (const double v = std::abs(number(i, i)); std::isfinite(v))
        diagonal_ = std::max(diagonal_, v);
    tolerance_ = (sizeof(T) == 4 ? 1e-5 : 1e-9) * diagonal_;
    for (Index i = 0; i < n_; ++i)
      roots_.push_back(static_cast<T>(std::sqrt(std::max(0.0, number(i, i)))));
    const Seen seen = look_at_all();
    if (!seen.finite) find_not_finite();
    const auto largest = static_cast<double>(seen.largest);
    if (diagonal_ <= 1e-6 * largest && largest > 0) refuse_distances(largest);
    for (Index i = 0; i < n_; ++i)
      if (number(i, i) < 0) refuse_negative(i);
    if (static_cast<double>(seen.gap) > tolerance_) find_asymmetric();
    if (seen.excess > 0) find_too_large();
    check_some();
  }

 private:
  /// What a pass over the pairs of points tells; most of each.
  struct Seen {
    bool finite = true;
    T largest = 0, gap = 0, excess = 0;
    void add(const Seen& other) {
      finite = finite && other.finite;
      largest = std::max(largest, other.largest);
      gap = std::max(gap, other.gap);
      excess = std::max(excess, other.excess);
    }
  };

  double number(Index i, Index j) const {
    return static_cast<double>(view_.row(source_(i))[at(source_(j))]);
  }
  /// The largest that |K_ij| may be.
  double bound(Index i, Index j) const {
    return (1 + 2 * entry_error_) * std::sqrt(std::max(0.0, number(i, i))) *
               std::sqrt(std::max(0.0, number(j, j))) +
           tolerance_;
  }

  /// Tiles below the diagonal, each beside the one that mirrors it: no cache line is fetched twice.
  Seen look_at_all() const {
    std::vector<Seen> seen(at(block_count(n_, tile)));
    for_blocks(
        threads_for(threads_, 8.0 * static_cast<double>(n_) * static_cast<double>(n_)), n_,
        [&](Index b, Index first, Index last) {
          for (Index begin = 0; begin <= first; begin += tile)
            seen[at(b)].add(look_at(first, last, begin));
        },
        tile);
    Seen all;
    for (const Seen& s : seen) all.add(s);
    return all;
  }

  Seen look_at(Index first, Index last, Index begin) const {
    const Index end = std::min(begin + tile, n_);
    T own[tile] = {}, roots[tile] = {}, mirror[tile][tile] = {};
    for (Index j = begin; j < end; ++j) {
      const auto row = view_.row(source_(j));
      for (Index i = first; i < last; ++i) mirror[i - first][j - begin] = row[at(source_(i))];
      roots[j - begin] = roots_[at(j)];
    }
    // Lanes, so that the compiler may take many at a time.
    T largest[lanes] = {}, gap[lanes] = {}, excess[lanes] = {}, zero[lanes] = {};
    const T slack = static_cast<T>(tolerance_);
    for (Index i = first; i < last; ++i) {
      const auto row = view_.row(source_(i));
      for (Index j = begin; j < end; ++j) own[j - begin] = row[at(source_(j))];
      const T* const other = mirror[i - first];
      const T root = static_cast<T>(1 + 2 * entry_error_) * roots_[at(i)];
      for (Index j = 0; j < tile; j += lanes)
        for (Index l = 0; l < lanes; ++l) {
          const T size = std::abs(own[j + l]), apart = std::abs(own[j + l] - other[j + l]);
          const T more = size - (root * roots[j + l] + slack);
          zero[l] += own[j + l] * 0 + other[j + l] * 0;  // or NaN
          largest[l] = size > largest[l] ? size : largest[l];
          gap[l] = apart > gap[l] ? apart : gap[l];
          excess[l] = more > excess[l] ? more : excess[l];
        }
    }
    const auto most = [](const T(&numbers)[lanes]) {
      return *std::max_element(numbers, numbers + lanes);
    };
    return {.finite = std::all_of(zero, zero + lanes, [](T v) { return v == 0; }),
            .largest = most(largest),
            .gap = most(gap),
            .excess = most(excess)};
  }

  /// Calls fault(i, j) for all entries, in reading order: it throws at the first that is wrong.
  template <class Fault>
  void in_reading_order(const Fault& fault) const {
    for (Index i = 0; i < n_; ++i)
      for (Index j = 0; j < n_; ++j) fault(i, j);
  }

  void find_not_finite() const {
    in_reading_order([&](Index i, Index j) {
      if (!std::isfinite(number(i, j)))
        throw Error(
            fmt::format("the precomputed kernel is not finite at row {}, column {} (from 0)",
                        source_(i), source_(j)));
    });
  }

  void find_asymmetric() const {
    in_reading_order([&](Index i, Index j) {
      if (j < i && std::abs(number(i, j) - number(j, i)) > tolerance_)
        throw Error(fmt::format(
            "the precomputed kernel is not symmetric: {} at row {}, column {} (from 0), "
            "but {} the other way round",
            number(i, j), source_(i), source_(j), number(j, i)));
    });
  }

  [[noreturn]] void refuse_negative(Index i) const {
    throw Error(
        fmt::format("the precomputed kernel is {} at row {}, column {}; the diagonal of a kernel "
                    "is never negative",
                    number(i, i), source_(i), source_(i)));
  }

  [[noreturn]] void refuse_distances(double largest) const {
    throw Error(fmt::format(
        "the precomputed kernel has {} on its diagonal, and numbers up to {:.4g} "
        "beside it: it looks like distances. Of distances D a kernel is made by, for example, "
        "K = numpy.exp(-D**2 / numpy.median(D**2)); methods that take distances as they are, such "
        "as kmedoids, do so with metric = precomputed in place of the kernel",
        diagonal_ > 0 ? fmt::format("nothing above {:.4g}", diagonal_) : "nothing but zeros",
        largest));
  }

  void find_too_large() const {
    in_reading_order([&](Index i, Index j) {
      if (std::abs(number(i, j)) > bound(i, j))
        throw_no_kernel(
            fmt::format("it is {:.6g} at row {}, column {} (from 0), more than the root of {:.6g} "
                        "x {:.6g}, which "
                        "stand on the diagonal there",
                        number(i, j), source_(i), source_(j), number(i, i), number(j, j)));
    });
  }

  /// Some points, evenly spaced, or all: divided by the roots of its diagonal, K plus what rounding may have
  /// taken from its eigenvalues has a Cholesky factor.
  void check_some() const {
    constexpr Index most = 512;
    const Index m = std::min(n_, most);
    if (!(diagonal_ > 0)) return;
    const auto point = [&](Index s) { return s * n_ / m; };
    std::vector<double> scale(at(m)), scaled(at(m * m));
    for (Index s = 0; s < m; ++s)
      scale[at(s)] = 1 / std::sqrt(std::max({number(point(s), point(s)), 1e-9 * diagonal_,
                                             std::numeric_limits<double>::min()}));
    for (Index s = 0; s < m; ++s)
      for (Index r = 0; r < m; ++r)
        scaled[at(s * m + r)] = number(point(s), point(r)) * scale[at(s)] * scale[at(r)];
    // Of m entries a row, each off by a part of its own size or of the largest.
    std::vector<double> lifted = scaled;
    for (Index s = 0; s < m; ++s)
      lifted[at(s * m + s)] +=
          static_cast<double>(m) * (entry_error_ + tolerance_ * scale[at(s)] * scale[at(s)]);
    if (is_positive_definite(std::move(lifted), m)) return;
    const std::vector<double> values = symmetric_eigen(std::move(scaled), m).values;
    throw_no_kernel(fmt::format(
        "scaled to a diagonal of 1, {} eigenvalue is {:.4g}, beside {:.4g} for the largest",
        m < n_ ? fmt::format("of {} of its {} points the smallest", m, n_) : "its smallest",
        values.front(), values.back()));
  }

  static constexpr Index tile = 64, lanes = 8;

  View view_;
  Source source_;
  Index n_;
  double entry_error_;
  int threads_;
  double diagonal_ = 0;   // the largest entry there
  double tolerance_ = 0;  // of one entry, in the matrix's units
  std::vector<T> roots_;  // of the diagonal
};

}  // namespace

double entry_error_of_given(const PointsView&) {
  return 1e-5;  // of float32 sums, and of six digits in a text, whatever the numbers are held in since
}

void check_given_kernel(const PointsView& view, std::span<const Index> subset, int threads) {
  std::visit(
      [&](const auto& matrix) {
        if constexpr (requires { matrix(0, 0); }) {
          const Index n = subset.empty() ? matrix.rows : static_cast<Index>(subset.size());
          with_members(subset, [&](const auto& source) {
            KernelCheck(matrix, source, n, entry_error_of_given(view), threads).run();
          });
        }
      },
      view);
}

void throw_no_kernel(const std::string& how) {
  throw Error(
      fmt::format("the precomputed kernel is not positive semi-definite, so that nothing can be "
                  "certified: {}; take "
                  "a kernel that is (rbf, for example), or add to its diagonal what is missing, "
                  "which changes what "
                  "is chosen",
                  how));
}

}  // namespace fwsr
