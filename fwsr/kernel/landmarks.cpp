#include "fwsr/kernel/landmarks.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

/// The place where the running sum of what is left passes the part `u` of all of it. Nothing
/// counts that is not more than `enough`; -1 when no place has more.
Index at_quantile(const std::vector<double>& left, double enough, double u) {
  double sum = 0;
  for (const double v : left) sum += v > enough ? v : 0.0;
  Index last = -1;
  double passed = 0;
  for (std::size_t s = 0; s < left.size(); ++s) {
    if (!(left[s] > enough)) continue;
    last = static_cast<Index>(s);
    passed += left[s];
    if (passed > u * sum) break;
  }
  return last;
}

class LandmarkSearch {
 public:
  LandmarkSearch(const KernelMatrix& kernel, Index rank, double least, int threads)
      : kernel_(kernel), rank_(rank), threads_(threads) {
    const Index n = kernel.size(), m = landmark_sample(n, rank);
    sample_.resize(at(m));
    left_.resize(at(m));
    for (Index s = 0; s < m; ++s) {
      sample_[at(s)] = s * n / m;
      left_[at(s)] = kernel.diagonal(sample_[at(s)], Eta::left_out);
    }
    enough_ = least * *std::max_element(left_.begin(), left_.end());
    w_.reset(new double[at(checked_bytes(m, rank, 1))]);
  }

  Landmarks run(const KeepGoing& keep_going) {
    const Index batch = std::clamp<Index>(rank_ / 8, 1, 64);
    while (found() < rank_) {
      throw_if_cancelled(keep_going);
      const std::vector<Index> drawn = draw(std::min(batch, rank_ - found()));
      if (drawn.empty()) break;
      eliminate(drawn);
    }
    if (pivots_.empty()) return {.points = {sample_[0]}, .lower = {1.0}};  // K = 0, and so is F
    Landmarks result;
    for (Index i = 0; i < found(); ++i) {
      result.points.push_back(sample_[at(pivots_[at(i)])]);
      const double* row = &w_[at(pivots_[at(i)] * rank_)];
      result.lower.insert(result.lower.end(), row, row + i + 1);
      result.lower.insert(result.lower.end(), at(found() - i - 1), 0.0);
    }
    return result;
  }

 private:
  Index found() const { return static_cast<Index>(pivots_.size()); }

  /// Up to `count` different places of the sample.
  std::vector<Index> draw(Index count) {
    std::vector<Index> drawn;
    std::vector<double> open = left_;
    while (static_cast<Index>(drawn.size()) < count) {
      const double turns = static_cast<double>(draws_++) * 0.6180339887498949 + 0.5;
      const Index p = at_quantile(open, enough_, turns - std::floor(turns));
      if (p < 0) break;
      open[at(p)] = 0;
      drawn.push_back(p);
    }
    return drawn;
  }

  /// K[drawn, first .. last] - W_drawn W_s^T, row by row.
  std::vector<double> residuals(const std::vector<Index>& drawn, Index first, Index last) const {
    std::vector<Index> points;
    for (const Index p : drawn) points.push_back(sample_[at(p)]);
    std::vector<double> own(drawn.size() * at(found()));
    for (std::size_t q = 0; q < drawn.size(); ++q)
      std::copy_n(&w_[at(drawn[q] * rank_)], found(), own.data() + q * at(found()));
    std::vector<double> columns =
        kernel_.values(points, std::span(sample_.data() + first, at(last - first)), Eta::left_out);
    if (found() > 0)
      multiply(Product<double>{.op_b = Op::transpose,
                               .m = static_cast<Index>(drawn.size()),
                               .n = last - first,
                               .k = found(),
                               .a = -1,
                               .left = own.data(),
                               .left_stride = found(),
                               .right = &w_[at(first * rank_)],
                               .right_stride = rank_,
                               .b = 1,
                               .out = columns.data(),
                               .out_stride = last - first});
    return columns;
  }

  /// Adds a column to W for each of `drawn` that still has something left.
  void eliminate(const std::vector<Index>& drawn) {
    // Cholesky among the drawn themselves, in their order.
    const Index t = found();
    std::vector<std::vector<double>> rows;  // of the small factor, one per pivot
    std::vector<std::size_t> kept;
    for (std::size_t q = 0; q < drawn.size(); ++q) {
      const Index p = drawn[q];
      const std::vector<double> column = residuals(drawn, p, p + 1);
      std::vector<double> row;
      double rest = left_[at(p)];
      for (std::size_t a = 0; a < kept.size(); ++a) {
        const double v =
            (column[kept[a]] - dot(rows[a].data(), row.data(), static_cast<Index>(a))) / rows[a][a];
        row.push_back(v);
        rest -= v * v;
      }
      left_[at(p)] = 0;  // a pivot now, or nothing is left of it
      if (!(rest > enough_)) continue;
      row.push_back(std::sqrt(rest));
      kept.push_back(q);
      rows.push_back(std::move(row));
    }
    std::vector<Index> pivots;
    for (const std::size_t q : kept) pivots.push_back(drawn[q]);
    const auto count = static_cast<Index>(pivots.size());
    for_blocks(threads_, static_cast<Index>(sample_.size()), [&](Index, Index first, Index last) {
      const std::vector<double> columns = residuals(pivots, first, last);
      for (Index s = first; s < last; ++s) {
        double* w = &w_[at(s * rank_ + t)];
        double gone = 0;
        for (Index a = 0; a < count; ++a) {
          const double* row = rows[at(a)].data();
          w[a] = (columns[at(a * (last - first) + s - first)] - dot(row, w, a)) / row[a];
          gone += w[a] * w[a];
        }
        left_[at(s)] = std::max(0.0, left_[at(s)] - gone);
      }
    });
    for (Index a = 0; a < count; ++a) {  // what rounding made of rows that are known
      std::copy_n(rows[at(a)].data(), a + 1, &w_[at(pivots[at(a)] * rank_ + t)]);
      std::fill_n(&w_[at(pivots[at(a)] * rank_ + t + a + 1)], count - a - 1, 0.0);
    }
    pivots_.insert(pivots_.end(), pivots.begin(), pivots.end());
  }

  const KernelMatrix& kernel_;
  Index rank_;
  int threads_;
  std::vector<Index> sample_;
  std::vector<double> left_;
  double enough_ = 0;
  std::unique_ptr<double[]> w_;  // W, sample x rank
  std::vector<Index> pivots_;    // places in the sample
  Index draws_ = 0;
};

}  // namespace

Index landmark_sample(Index n, Index rank) {
  return std::min(n, std::max(2 * rank, std::min<Index>(16 * rank, 8192)));
}

Landmarks choose_landmarks(const KernelMatrix& kernel, Index rank, double least, int threads,
                           const KeepGoing& keep_going) {
  return LandmarkSearch(kernel, rank, least, threads).run(keep_going);
}

}  // namespace fwsr
