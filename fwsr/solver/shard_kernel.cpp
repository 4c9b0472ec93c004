// What a PointShard answers about kernels of distances: rows of a factor, and what few points stand for.
#include <algorithm>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/pass.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/solver/nearest_exemplar.hpp"
#include "fwsr/solver/point_shard.hpp"

namespace fwsr {

FarthestFrom::Reply PointShard::answer(const FarthestFrom& q) const {
  return farthest_from(points(q.set), q.tables, threads_);
}

MakeFactor::Reply PointShard::answer(const MakeFactor& q) {
  FactorRows made = factor_rows(points(q.of), q.tables, q.single, q.wide, threads_, keep_going_);
  add(q.set, std::move(made.points));
  return {.trace = std::move(made.trace), .lost = std::move(made.lost)};
}

ProjectInKernel::Reply PointShard::answer(const ProjectInKernel& q) const {
  const Points& own = points(q.set);
  const Terms& of = terms(q.set);
  const KernelTables& z = q.tables;
  const Index few = z.few();
  const auto blocks = at(block_count(own.size(), values_block));
  std::vector<double> projection(blocks), trace(blocks);
  for_kernel_values(own, z, threads_, keep_going_,
                    [&](Index first, Index last, const double* values) {
                      const std::size_t b = at(first / values_block);
                      std::vector<double> x(at(few));  // G^-1 v
                      for (Index i = first; i < last; ++i) {
                        const double* const v = values + (i - first) * few;
                        for (Index l = 0; l < few; ++l) {
                          const double* const row = z.lower.data() + l * few;
                          x[at(l)] = (v[l] - dot(row, x.data(), l)) / row[l];
                        }
                        const double rest = z.times - dot(x.data(), x.data(), few);
                        projection[b] += of.weight(i) * std::max(0.0, rest);
                        trace[b] += of.weight(i) * z.times;
                      }
                    });
  return {.projection = segments_of(projection, own.portion(), values_block),
          .trace = segments_of(trace, own.portion(), values_block)};
}

NearestInKernel::Reply PointShard::answer(const NearestInKernel& q) const {
  const Points& own = points(q.set);
  const Terms& of = terms(q.set);
  const Index few = q.tables.few(), before = own.portion().first;
  const NearestExemplar to(q.exemplars, std::vector<double>(at(few), q.tables.times),
                           nearest_rounding);
  NearestInKernel::Reply reply;
  if (q.assignment) reply.assignment.resize(at(own.size()));
  std::vector<std::vector<double>> counts(at(block_count(own.size(), values_block)));
  for_kernel_values(own, q.tables, threads_, keep_going_,
                    [&](Index first, Index last, const double* values) {
                      std::vector<double>& count = counts[at(first / values_block)];
                      count.resize(at(few));
                      for (Index i = first; i < last; ++i) {
                        const Index t = to.of(before + i, values + (i - first) * few);
                        count[at(t)] += of.weight(i);
                        if (q.assignment) reply.assignment[at(i)] = t;
                      }
                    });
  reply.counts = segments_of(counts, own.portion(), values_block,
                             [](std::vector<double>& sum, const std::vector<double>& more) {
                               sum.resize(more.size());
                               for (std::size_t t = 0; t < more.size(); ++t) sum[t] += more[t];
                             });
  return reply;
}

}  // namespace fwsr
