// What a CudaShard answers about kernels of squared distances: rows of a factor, what few points stand for, and where the
// middle of that is.
#include <utility>

#include "fwsr/base/at.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/cuda/cuda_shard.hpp"
#include "fwsr/cuda/kernel.hpp"
#include "fwsr/linalg/pass.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr::cuda {

namespace {

std::vector<double> squares_of(const std::vector<double>& rows, Index dim) {
  std::vector<double> squares;
  for (Index f = 0; f < std::ssize(rows) / dim; ++f)
    squares.push_back(dot(rows.data() + f * dim, rows.data() + f * dim, dim));
  return squares;
}

}  // namespace

template <class Use>
void CudaShard::for_moved(const DevicePoints& own, std::span<const double> shift,
                          Index numbers_each, Use&& use) {
  const Array<double> by = put(shift);
  Array<double> squares;
  for_rows(own, numbers_each + 1, [&](Index first, Index last, double* rows) {
    if (squares.empty()) squares = Array<double>(*device_, last - first);
    launch_shift(*device_, by.get(), last - first, own.dim(), rows, squares.get());
    use(first, last, rows, squares.get());
  });
}

template <class Use>
void CudaShard::for_values(const DevicePoints& own, const KernelTables& z, Use&& use) {
  if (z.kernel != KernelType::rbf)
    throw Error("a card knows rbf alone; this is an error of this program, use device cpu");
  const Index dim = z.dim, few = std::ssize(z.rows) / dim;
  const Array<double> with = put(z.rows), of_few = put(squares_of(z.rows, dim));
  Array<double> values;
  for_moved(own, z.shift, few,
            [&](Index first, Index last, const double* rows, const double* squares) {
              const Index count = last - first;
              if (values.empty()) values = Array<double>(*device_, count * few);
              times(rows, count, dim, with.get(), few, values.get(), few);
              launch_gaussians(
                  *device_,
                  {.gamma = z.gamma, .times = z.times, .squares = squares, .of_few = of_few.get()},
                  count, few, values.get());
              use(first, last, values.get());
            });
}

MakeFactor::Reply CudaShard::answer(const MakeFactor& q) {
  const DevicePoints& own = points(q.of);
  const Index n = own.size(), rank = std::ssize(q.tables.rows) / q.tables.dim;
  auto stored = std::make_shared<Stored>(
      Stored::room(*device_, q.single ? Number::float32 : Number::float64, n, rank));
  const Array<double> g = put(q.tables.lower);
  Array<double> lost(*device_, n);
  for_values(own, q.tables, [&](Index first, Index last, double* rows) {
    const Index count = last - first;
    device_->blas().substitute(g.get(), rank, rows, count, rank);
    launch_row_dots(*device_, rows, rows, count, rank, lost.get() + first);
    launch_store(*device_, rows, count, rank, stored->number, stored->stride,
                 stored->own.get() + first * stored->stride * bytes_of(stored->number));
  });
  launch_left(*device_, q.tables.times, n, lost.get());
  MakeFactor::Reply reply{.trace = {static_cast<double>(n) * q.tables.times},
                          .lost = {sum_of(*device_, lost.get(), n)}};
  add(q.set, std::make_unique<DevicePoints>(*device_, std::move(stored), std::span<const Index>{},
                                            Preprocessing{.center = Center::none}, own.portion(),
                                            own.portion().first));
  return reply;
}

ProjectInKernel::Reply CudaShard::answer(const ProjectInKernel& q) {
  const DevicePoints& own = points(q.set);
  const Index n = own.size(), rank = std::ssize(q.tables.rows) / q.tables.dim;
  const Array<double> g = put(q.tables.lower);
  Array<double> left(*device_, n);
  for_values(own, q.tables, [&](Index first, Index last, double* rows) {
    device_->blas().substitute(g.get(), rank, rows, last - first, rank);
    launch_row_dots(*device_, rows, rows, last - first, rank, left.get() + first);
  });
  launch_left(*device_, q.tables.times, n, left.get());
  return {.projection = {sum_of(*device_, left.get(), n)},
          .trace = {static_cast<double>(n) * q.tables.times}};
}

NearestInKernel::Reply CudaShard::answer(const NearestInKernel& q) {
  const DevicePoints& own = points(q.set);
  const Index n = own.size(), k = std::ssize(q.exemplars);
  const Array<double> squares = put(std::vector<double>(at(k), q.tables.times));
  Array<int> nearest(*device_, n);
  for_values(own, q.tables, [&](Index first, Index last, double* values) {
    launch_nearest(*device_, values, squares.get(), last - first, k, nearest_rounding,
                   nearest.get() + first);
  });
  const Array<Index> exemplars = places_here(q.set, q.exemplars);
  launch_themselves(*device_, exemplars.get(), k, {0, n}, nearest.get());
  Array<unsigned long long> counts(*device_, k);
  counts.set_to_zero();
  launch_count(*device_, nearest.get(), n, counts.get());
  NearestInKernel::Reply reply;
  const std::vector<unsigned long long> all_counts = counts.get_all();
  reply.counts.emplace_back(all_counts.begin(), all_counts.end());
  if (q.assignment) {
    const std::vector<int> all = nearest.get_all();
    reply.assignment.assign(all.begin(), all.end());
  }
  return reply;
}

// ------------------------------------------------------------------------------------------ the middle

SumGroups::Reply CudaShard::answer(const SumGroups& q) {
  const MiddleTables& z = q.tables;
  const DevicePoints& own = points(q.set);
  const Index d = z.dim, k = std::ssize(z.exemplars);
  const Array<double> few = put(z.rows), of_few = put(squares_of(z.rows, d));
  const Array<Index> exemplars = places_here(q.set, z.exemplars);
  groups_ = Array<int>(*device_, own.size());
  Array<double> products, sums(*device_, k * d), part(*device_, k);
  sums.set_to_zero();
  std::vector<double> weights(at(k));
  for_moved(
      own, z.shift, k, [&](Index first, Index last, const double* rows, const double* /*squares*/) {
        const Index count = last - first;
        if (products.empty()) products = Array<double>(*device_, count * k);
        int* const groups = groups_.get() + first;
        times(rows, count, d, few.get(), k, products.get(), k);
        launch_nearest(*device_, products.get(), of_few.get(), count, k, nearest_rounding, groups);
        launch_themselves(*device_, exemplars.get(), k, {first, last}, groups_.get());
        // The products have served: what every point counts in its group takes their place.
        launch_memberships(*device_, rows, few.get(), count, k, d, z.weights.gamma, groups,
                           products.get());
        device_->blas().multiply({.left = {products.get(), count, k, k},
                                  .left_transposed = true,
                                  .right = {rows, count, d, d},
                                  .b = 1,
                                  .out = sums.get(),
                                  .out_stride = d});
        launch_column_sums(*device_, products.get(), count, k, part.get());
        const std::vector<double> more = part.get_all();
        for (std::size_t p = 0; p < more.size(); ++p) weights[p] += more[p];
      });
  const std::vector<double> told = sums.get_all();
  std::vector<double> both;
  for (Index p = 0; p < k; ++p) {
    both.insert(both.end(), told.begin() + p * d, told.begin() + (p + 1) * d);
    both.push_back(weights[at(p)]);
  }
  return {std::move(both)};
}

FindMiddles::Reply CudaShard::answer(const FindMiddles& q) {
  const MiddleTables& z = q.tables;
  const DevicePoints& own = points(q.set);
  const Array<int> groups = std::exchange(groups_, {});
  const Array<double> means = put(z.means), weight = put(z.weight), near = put(z.at);
  Array<double> gains(*device_, own.size());
  for_moved(own, z.shift, 0,
            [&](Index first, Index last, const double* rows, const double* /*squares*/) {
              launch_gains(*device_, rows,
                           {.means = means.get(), .weight = weight.get(), .at = near.get()},
                           last - first, z.dim, groups.get() + first, gains.get() + first);
            });
  // Two numbers a point: the host does it.
  const std::vector<int> group = groups.get_all();
  const std::vector<double> gain = gains.get_all();
  std::vector<Offer> best(z.exemplars.size());
  for (std::size_t i = 0; i < group.size(); ++i)
    best[at(group[i])].see({.point = before(q.set) + static_cast<Index>(i), .gain = gain[i]},
                           z.least);
  return best;
}

}  // namespace fwsr::cuda
