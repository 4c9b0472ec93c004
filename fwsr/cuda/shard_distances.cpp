// What a CudaShard answers while a short answer is filled (solver/distances.hpp): how far its points are from all exemplars.
#include <cmath>
#include <limits>

#include "fwsr/base/at.hpp"
#include "fwsr/cuda/after.hpp"
#include "fwsr/cuda/cuda_shard.hpp"
#include "fwsr/cuda/statistics.hpp"
#include "fwsr/solver/distances.hpp"

namespace fwsr::cuda {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

Told CudaShard::answer(const LowerDistances& q) {
  const DevicePoints& own = candidates(q.set);
  const Terms& terms = narrowed(q.set).terms;
  const Index n = own.size(), dim = own.dim(), k = std::ssize(q.exemplars);
  const double eta_squared = own.eta() * own.eta();
  const auto [run, fresh] = distances_.try_emplace(q.run);
  CardDistances& distances = run->second;
  if (fresh) {
    distances.places = terms.candidates;
    distances.before = before(q.set);
    distances.points = &own;
    distances.least = Array<double>(*device_, n);
    launch_set(*device_, distances.least.get(), n, infinity);
  }
  if (k == 0) return {};
  std::vector<double> squares;  // with eta on both sides, which takes nothing away from a distance
  for (const double s : q.squares.all()) squares.push_back(s + 2 * eta_squared);
  const Array<double> with = put(q.rows.all()), of_exemplars = put(squares);
  Array<double> s;
  for_rows(own, k, [&](Index first, Index last, const double* rows) {
    const Index count = last - first;
    if (s.empty()) s = Array<double>(*device_, count * k);
    times(rows, count, dim, with.get(), k, s.get(), k);
    launch_lower(*device_, {.rows = count,
                            .k = k,
                            .dim = dim,
                            .points = rows,
                            .exemplars = with.get(),
                            .doubtful = doubtful_distance,
                            .nothing = of_differences * of_differences,
                            .eta_squared = eta_squared,
                            .s = s.get(),
                            .squares = own.squares() + first,
                            .of_exemplars = of_exemplars.get(),
                            .least = distances.least.get() + first});
  });
  std::vector<Index> chosen;
  for (const Index e : here(q.set, q.exemplars).places) {
    const Index place = terms.place(e);
    if (place < n && terms.point(place) == e) chosen.push_back(place);
  }
  const Array<Index> places(*device_, std::span<const Index>(chosen));
  launch_set_at(*device_, places.get(), places.size(), -infinity, distances.least.get());
  device_->wait();
  return {};
}

Told CudaShard::permit(CardDistances& distances, std::span<const double> prices) {
  std::vector<double> own;
  for (Index c = 0; c < distances.least.size(); ++c) own.push_back(prices[at(distances.point(c))]);
  distances.prices = put(own);
  return {};
}

Array<double> CudaShard::permitted(const CardDistances& distances) {
  Array<double> values(*device_, distances.least.size());
  launch_permitted(*device_, distances.least.get(), distances.prices.get(), values.size(),
                   values.get());
  return values;
}

FirstScore::Reply CudaShard::first(const CardDistances& distances, double enough) {
  const Array<double> values = permitted(distances);
  const double eta = distances.points->eta();
  launch_widen(*device_, {.squares = distances.points->squares(), .eta_squared = eta * eta},
               values.size(), values.get());
  const Index c =
      first_beyond(*device_, values.get(), values.size(), std::nextafter(enough, -infinity));
  if (c < 0) return {};
  return {.point = distances.point(c), .square = values.get_some(c, 1).front()};
}

}  // namespace fwsr::cuda
