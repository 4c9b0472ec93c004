#include "fwsr/kernel/width.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/kernel/block_distances.hpp"
#include "fwsr/kernel/computed_kernel.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

constexpr Index sample_size = 1000;

/// Appends the distances of all pairs of some points, copies of each other left out.
void add_distances(const Points& points, const std::vector<Index>& chosen, bool absolute,
                   int threads, std::vector<double>& distances) {
  const Index sample = std::ssize(chosen), d = points.dim();
  // All pairs of the sample: row block s, columns up to and including it.
  constexpr Index block = 96;
  const bool sparse = points.sparse() && !absolute;
  std::vector<double> rows, norms(at(sample));
  if (!sparse) {
    rows.resize(at(sample * d));
    const auto work = static_cast<double>(sample) * static_cast<double>(d);
    for_blocks(
        threads_for(threads, work), sample,
        [&](Index, Index first, Index last) {
          for (Index s = first; s < last; ++s) points.row(chosen[at(s)], rows.data() + s * d);
        },
        block);
    std::vector<double> mean(at(d));
    for (Index s = 0; s < sample; ++s)
      for (Index l = 0; l < d; ++l)
        mean[at(l)] += rows[at(s * d + l)] / static_cast<double>(sample);
    for_blocks(
        threads_for(threads, work), sample,
        [&](Index, Index first, Index last) {
          for (Index s = first; s < last; ++s) {
            double* const row = rows.data() + s * d;
            for (Index l = 0; l < d; ++l) row[l] -= mean[at(l)];
            norms[at(s)] = dot(row, row, d);
          }
        },
        block);
  } else {
    for (Index s = 0; s < sample; ++s) norms[at(s)] = points.squared_norm(chosen[at(s)]);
  }
  const ComputedKernel inner(points, {}, 0, false, 1);  // the linear kernel
  std::vector<std::vector<double>> found(at(block_count(sample, block)));
  const double work = static_cast<double>(sample * sample) * static_cast<double>(d);
  for_blocks(
      threads_for(threads, work), sample,
      [&](Index b, Index first, Index last) {
        const Index height = last - first, width = last;
        std::vector<double> pairs(at(height * width));
        const std::span<const Index> all = chosen;
        if (sparse)
          pairs = inner.values(all.subspan(at(first), at(height)), all.subspan(0, at(width)),
                               Eta::left_out);
        else if (absolute)
          absolute_distances(DistanceBlock<double>{.left = rows.data() + first * d,
                                                   .rows = height,
                                                   .right = rows.data(),
                                                   .columns = width,
                                                   .d = d,
                                                   .out = pairs.data(),
                                                   .stride = width});
        else
          multiply(Product<double>{.op_b = Op::transpose,
                                   .m = height,
                                   .n = width,
                                   .k = d,
                                   .left = rows.data() + first * d,
                                   .right = rows.data(),
                                   .out = pairs.data()});
        for (Index s = first; s < last; ++s)
          for (Index t = 0; t < s; ++t) {
            const double pair = pairs[at((s - first) * width + t)];
            const double both = norms[at(s)] + norms[at(t)];
            const double distance = absolute ? pair : both - 2 * pair;
            const double noise = 64 * std::numeric_limits<double>::epsilon() * both;
            if (distance > (absolute ? 0.0 : noise)) found[at(b)].push_back(distance);
          }
      },
      block);
  for (const auto& some : found) distances.insert(distances.end(), some.begin(), some.end());
}

}  // namespace

Index width_samples(Index n, const Width& wanted) {
  constexpr Index most = 8;
  if (wanted.quantile == Width{}.quantile) return 1;
  return std::clamp<Index>(n / sample_size, 1, most);
}

Index width_sample(Index n, const Width& wanted) {
  return width_samples(n, wanted) * std::min(n, sample_size);
}

double default_gamma(const Points& points, KernelType type, int threads, const Width& wanted) {
  const Index n = points.size();
  const double u = points.unit();
  const KernelOf of = formula_of(type).of;
  const bool absolute = of == KernelOf::absolute_distances;
  if (of == KernelOf::products) {
    const double square = points.rms_norm() * points.rms_norm();
    return square > 0 ? u * u / square : 1.0;
  }
  const Index sample = std::min(n, sample_size), samples = width_samples(n, wanted);
  std::vector<double> all;
  all.reserve(at(samples * sample * (sample - 1) / 2));
  for (Index p = 0; p < samples; ++p) {
    std::vector<Index> chosen(at(sample));
    for (Index s = 0; s < sample; ++s) chosen[at(s)] = (s * samples + p) * n / (samples * sample);
    add_distances(points, chosen, absolute, threads, all);
  }
  if (all.empty()) return 1;  // all points equal
  const auto count = static_cast<Index>(all.size());
  const auto place = static_cast<Index>(wanted.quantile * static_cast<double>(count));
  const auto typical = all.begin() + std::min(place, count - 1);
  std::nth_element(all.begin(), typical, all.end());
  return wanted.times * (absolute ? u / *typical : u * u / *typical);
}

}  // namespace fwsr
