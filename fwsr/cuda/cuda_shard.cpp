#include "fwsr/cuda/cuda_shard.hpp"
#include "fwsr/cuda/gram.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/cuda/statistics.hpp"
#include "fwsr/solver/covariance.hpp"
#include "fwsr/solver/scores.hpp"

namespace fwsr::cuda {

void refuse_many_features(const Device& device, Index features) {
  if (const Index most = most_features(device); features >= most)
    throw Error(
        fmt::format("the points have {} features, and this card has room for {}; use device cpu",
                    features, most - 1));
}

CudaShard::CudaShard(std::shared_ptr<Device> device, KeepGoing keep_going)
    : device_(std::move(device)), keep_going_(std::move(keep_going)) {}
CudaShard::~CudaShard() = default;

void CudaShard::add(Index set, std::unique_ptr<DevicePoints> points) {
  sets_[set] = std::move(points);
}

void CudaShard::times(const double* rows, Index count, Index depth, const double* right,
                      Index columns, double* out, Index out_stride) {
  device_->blas().multiply({.left = {rows, count, depth, depth},
                            .right = {right, columns, depth, depth},
                            .transposed = true,
                            .out = out,
                            .out_stride = out_stride});
}

// ------------------------------------------------------------------------------------------------ sets

Told CudaShard::answer(const MakeSet& q) {
  add(q.set, std::make_unique<DevicePoints>(points(q.of), q.eta, q.eta_relative));
  return {};
}

// What plans do not give to a card (solver/on_card.cpp).
namespace {

[[noreturn]] void refuse(const char* what) {
  throw Error(fmt::format("{} on a card; this is an error of this program, use device cpu", what));
}

}  // namespace

WhichPoints::Reply CudaShard::answer(const WhichPoints& q) const {
  const DevicePoints& own = points(q.set);
  return {.first = own.portion().first,
          .size = own.size(),
          .of = own.portion().of,
          .features = own.features(),
          .sparse = false,
          .single = own.single(),
          .in_double = true};
}

CudaShard::Here CudaShard::here(Index set, std::span<const Index> some) const {
  const DevicePoints& own = points(set);
  Here found;
  for (std::size_t w = 0; w < some.size(); ++w) {
    const Index place = some[w] - own.portion().first;
    if (place < 0 || place >= own.size()) continue;
    found.which.push_back(static_cast<Index>(w));
    found.places.push_back(place);
  }
  return found;
}

Array<Index> CudaShard::places_here(Index set, std::span<const Index> some) {
  std::vector<Index> places;
  for (const Index i : some) places.push_back(i - before(set));
  return {*device_, std::span<const Index>(places)};
}

Told CudaShard::answer(const Forget& q) {
  if (q.what == Forget::What::run) runs_.erase(q.id), distances_.erase(q.id);
  if (q.what == Forget::What::covariance) r_.erase(q.id), c_.erase(q.id);
  if (q.what == Forget::What::set) sets_.erase(q.id), narrowed_.erase(q.id);
  return {};
}

RowsOf::Reply CudaShard::answer(const RowsOf& q) const {
  Here found = here(q.set, q.points);
  DevicePoints::Few few = points(q.set).few(found.places);
  return {.which = std::move(found.which),
          .rows = q.rows_too ? std::move(few.rows) : std::vector<double>(),
          .squares = std::move(few.squares),
          .taken_away = std::move(few.taken_away)};
}

CopiesOf::Reply CudaShard::answer(const CopiesOf& q) const {
  Here found = here(q.set, q.points);
  PointCopies copies = points(q.set).copies(found.places);
  copies.which = std::move(found.which);
  return copies;
}

// --------------------------------------------------------------------------------------- the set-up

Moments::Reply CudaShard::answer(const Moments& q) {
  const DevicePoints& own = points(q.set);
  const Index dim = own.dim();
  GramSum sum(*device_, dim, own.size());
  for_rows(own, 0, [&](Index first, Index last, double* rows) {
    weigh_rows(q.set, first, last, rows);
    sum.add(rows, last - first);
  });
  return {Gram{.products = sum.total(), .rows = std::vector<double>(at(dim))}};
}

void CudaShard::keep(const Covariance& covariance) {
  Array<double>& held = c_[covariance.id];
  if (held.empty()) held = put(covariance.c);
}

/// A panel of columns of C is multiplied with what is beside or above its part of the diagonal. All that stands above the
/// panels counts twice, and what is below is of no use.
Array<double> CudaShard::forms(const DevicePoints& own, Array<double> matrix) {
  constexpr Index panel = 128;  // columns of C at a time
  const Index dim = own.dim();
  launch_double_above(*device_, panel, dim, matrix.get());
  Array<double> r(*device_, own.size()), y;
  for_rows(own, dim, [&](Index first, Index last, const double* rows) {
    const Index count = last - first;
    if (y.empty()) y = Array<double>(*device_, count * dim);
    for (Index l = 0; l < dim; l += panel) {
      const Index width = std::min(panel, dim - l), above = l + width;
      device_->blas().multiply({.left = {rows, count, above, dim},
                                .right = {matrix.get() + l, above, width, dim},
                                .out = y.get() + l,
                                .out_stride = dim});
    }
    launch_row_dots(*device_, rows, y.get(), count, dim, r.get() + first);
  });
  device_->wait();
  return r;
}

KeepForms::Reply CudaShard::answer(const KeepForms& q) {
  Array<double>& held = c_[q.id] = put(q.c.all());
  Array<double> used(*device_, held.size());
  check(cudaMemcpyAsync(used.get(), held.get(), q.c.all().size_bytes(), cudaMemcpyDeviceToDevice,
                        device_->stream()),
        "copying on the card");
  r_[q.id] = forms(candidates(q.set), std::move(used));
  return largest_of(*device_, r_[q.id].get(), r_[q.id].size());
}

KeepFormsInSingle::Reply CudaShard::answer(const KeepFormsInSingle&) {
  refuse("nothing is computed in float32");
}

SumPoints::Reply CudaShard::answer(const SumPoints& q) {
  const DevicePoints& own = points(q.set);
  const Index dim = own.dim();
  std::vector<double> total(at(dim));
  Array<double> part(*device_, dim);
  for_rows(own, 0, [&](Index first, Index last, const double* rows) {
    launch_column_sums(*device_, rows, last - first, dim, part.get());
    const std::vector<double> more = part.get_all();
    for (std::size_t l = 0; l < total.size(); ++l) total[l] += more[l];
  });
  return {std::move(total)};
}

KeepBordered::Reply CudaShard::answer(const KeepBordered& q) {
  const DevicePoints &own = points(q.set), &plain = points(q.without);
  KeepBordered::Reply reply{.s = {q.sum.all().begin(), q.sum.all().end()}};
  const Array<double> sum = put(reply.s);
  Array<double> along(*device_, plain.size());
  for_rows(plain, 1, [&](Index first, Index last, const double* rows) {
    times(rows, last - first, plain.dim(), sum.get(), 1, along.get() + first, 1);
  });
  const double t2 = own.scale_against(plain) * own.scale_against(plain);
  const double eta2 = own.eta() * own.eta(), all = static_cast<double>(own.portion().of) * eta2;
  c_[q.id] = put(bordered_covariance(c_.at(q.id_without).get_all(), reply.s,
                                     {.scale = own.scale_against(plain),
                                      .eta = own.eta(),
                                      .n = own.portion().of,
                                      .dim = own.dim()}));
  // Few numbers a point: the host does it.
  std::vector<double> r = r_.at(q.id_without).get_all();
  const std::vector<double> k1 = along.get_all();
  for (std::size_t i = 0; i < r.size(); ++i) {
    r[i] = t2 * (t2 * r[i] + 2 * eta2 * k1[i]) + eta2 * all;
    reply.largest = std::max(reply.largest, r[i]);
  }
  r_[q.id] = put(r);
  return reply;
}

// ------------------------------------------------------------------------------------------ the runs

Told CudaShard::answer(const BeginRun& q) {
  runs_[q.run] =
      std::make_unique<CardRun>(*device_, candidates(q.set), narrowed(q.set).terms.candidates,
                                before(q.set), r_.at(q.covariance));
  return {};
}

Told CudaShard::answer(const SetPrices& q) {
  if (const auto found = distances_.find(q.run); found != distances_.end())
    return permit(found->second, q.prices.all());
  run(q.run).set_prices(q.prices.all());
  return {};
}

LargestScore::Reply CudaShard::answer(const LargestScore& q) {
  if (const auto found = distances_.find(q.run); found != distances_.end())
    return largest_of(*device_, permitted(found->second).get(), found->second.least.size());
  return run(q.run).largest();
}

FirstScore::Reply CudaShard::answer(const FirstScore& q) {
  if (const auto found = distances_.find(q.run); found != distances_.end())
    return first(found->second, q.enough);
  const CardRun& own = run(q.run);
  const CardRun::First found = own.first(q.enough);
  if (found.candidate < 0) return {};
  return {.point = own.point(found.candidate), .square = found.square};
}

Lead::Reply CudaShard::answer(const Lead& q) {
  const CardRun& own = run(q.run);
  Lead::Reply reply;
  reply.largest = own.largest();
  const CardRun::First found = own.first(enough_of(reply.largest, q.tie));
  if (found.candidate < 0) return reply;
  reply.score = found.square * found.price;
  reply.first = {.point = own.point(found.candidate), .square = found.square};
  reply.row = own.row(found.candidate);
  return reply;
}

Told CudaShard::answer(const Advance& q) {
  for (const Advance::Step& s : q.steps) run(s.run).advance(s);
  return {};
}

Told CudaShard::answer(const Rescore& q) {
  CardRun& own = run(q.run);
  const DevicePoints& all = own.points();
  const Index dim = all.dim();
  const Array<double> c = put(q.c.all()), e = put(q.e.all());
  Array<double> y, z;
  for_rows(all, 2 * dim, [&](Index first, Index last, const double* rows) {
    const Index count = last - first;
    if (y.empty())
      y = Array<double>(*device_, count * dim), z = Array<double>(*device_, count * dim);
    const auto multiply = [&](const double* left, const Array<double>& right, Array<double>& out) {
      device_->blas().multiply({.left = {left, count, dim, dim},
                                .right = {right.get(), dim, dim, dim},
                                .out = out.get(),
                                .out_stride = dim});
    };
    multiply(rows, e, y);     // y = E^T a_i
    multiply(y.get(), c, z);  // z = C y
    launch_scores(*device_, rows, y.get(), z.get(), count, dim, own.c.get() + first,
                  own.h.get() + first);
  });
  own.find_best();
  device_->wait();
  return {};
}

}  // namespace fwsr::cuda
