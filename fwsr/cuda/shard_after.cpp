// What a CudaShard answers when a run has ended: residuals, exchange. Codes: shard_codes.cpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/cuda/after.hpp"
#include "fwsr/cuda/cuda_shard.hpp"
#include "fwsr/cuda/gram.hpp"
#include "fwsr/cuda/statistics.hpp"
#include "fwsr/linalg/pass.hpp"
#include "fwsr/solver/covariance.hpp"

namespace fwsr::cuda {

template <class Use>
void CudaShard::for_residuals(const DevicePoints& own, const ResidualVectors& x, Use&& use) {
  const Index dim = own.dim(), m = std::ssize(x.basis) / dim, k = std::ssize(x.chosen) / dim;
  const Array<double> basis = put(x.basis), chosen = put(x.chosen), theta = put(x.theta);
  Array<double> v, codes, residual;
  for_rows(own, dim + m + k, [&](Index first, Index last, double* rows) {
    const Index count = last - first;
    if (k == 0) return use(first, last, rows);
    if (v.empty()) {
      v = Array<double>(*device_, count * m);
      codes = Array<double>(*device_, count * k);
      residual = Array<double>(*device_, count * dim);
    }
    times(rows, count, dim, basis.get(), m, v.get(), m);
    times(v.get(), count, m, theta.get(), k, codes.get(), k);
    check(cudaMemcpyAsync(residual.get(), rows, at(count * dim) * sizeof(double),
                          cudaMemcpyDeviceToDevice, device_->stream()),
          "copying on the card");
    device_->blas().multiply({.left = {codes.get(), count, k, k},
                              .right = {chosen.get(), k, dim, dim},
                              .a = -1,
                              .b = 1,
                              .out = residual.get(),
                              .out_stride = dim});
    use(first, last, residual.get());
  });
}

ResidualSquares::Reply CudaShard::answer(const ResidualSquares& q) {
  const DevicePoints& own = points(q.set);
  Array<double> squares(*device_, own.size());
  for_residuals(own, q.codes, [&](Index first, Index last, const double* rows) {
    launch_row_dots(*device_, rows, rows, last - first, own.dim(), squares.get() + first);
  });
  weigh(q.set, squares.get());
  return {sum_of(*device_, squares.get(), own.size())};
}

ResidualMoments::Reply CudaShard::answer(const ResidualMoments& q) {
  const DevicePoints& own = points(q.set);
  const Index dim = own.dim();
  GramSum sum(*device_, dim, own.size());
  for_residuals(own, q.codes, [&](Index first, Index last, double* rows) {
    weigh_rows(q.set, first, last, rows);
    sum.add(rows, last - first);
  });
  return {Gram{.products = sum.total(), .rows = std::vector<double>(at(dim))}};
}

ProjectedSquares::Reply CudaShard::answer(const ProjectedSquares& q) {
  const DevicePoints& own = points(q.set);
  const Array<double> w = put(q.w.all());
  const Index count = std::ssize(q.w.all()) / own.dim();
  Array<double> along, squares(*device_, own.size());
  for_rows(own, count, [&](Index first, Index last, const double* rows) {
    if (along.empty()) along = Array<double>(*device_, (last - first) * count);
    times(rows, last - first, own.dim(), w.get(), count, along.get(), count);
    launch_row_dots(*device_, along.get(), along.get(), last - first, count, squares.get() + first);
  });
  weigh(q.set, squares.get());
  return {sum_of(*device_, squares.get(), own.size())};
}

namespace {

/// Of a squared score, times f and the square of the point (residual_score_error).
constexpr double score_units = 16 * std::numeric_limits<double>::epsilon();

}  // namespace

ResidualScores::Reply CudaShard::answer(const ResidualScores& q) {
  const DevicePoints& own = candidates(q.set);
  const Index n = own.size(), dim = own.dim();
  std::vector<double> whole(q.rr.all().begin(), q.rr.all().end());
  mirror(dim, whole);
  residual_scores_ = forms(own, put(whole));
  Array<double> least(*device_, n), most(*device_, n);
  const Array<double>& prices = narrowed(q.set).prices;
  if (!prices.empty()) launch_times(*device_, prices.get(), n, residual_scores_.get());
  launch_bounds(*device_, residual_scores_.get(),
                {.squares = own.squares(),
                 .eta_squared = own.eta() * own.eta(),
                 .error = score_units * q.f,
                 .prices = prices.get()},
                n, least.get(), most.get());
  return {.largest = std::max(0.0, largest_of(*device_, residual_scores_.get(), n)),
          .least = std::max(0.0, largest_of(*device_, least.get(), n)),
          .most = std::max(0.0, largest_of(*device_, most.get(), n))};
}

ResidualLeaders::Reply CudaShard::answer(const ResidualLeaders& q) {
  const DevicePoints& own = candidates(q.set);
  const Index n = own.size();
  const Array<double> squares = std::exchange(residual_scores_, {});
  Array<double> least(*device_, n), most(*device_, n);
  launch_bounds(*device_, squares.get(),
                {.squares = own.squares(),
                 .eta_squared = own.eta() * own.eta(),
                 .error = score_units * q.f,
                 .prices = narrowed(q.set).prices.get()},
                n, least.get(), most.get());
  Array<Index> found(*device_, q.few + 1);
  Array<unsigned long long> count(*device_, 1);
  count.set_to_zero();
  launch_collect(*device_, most.get(), n, q.least, q.few + 1, found.get(), count.get());
  const auto told = std::min<Index>(q.few + 1, static_cast<Index>(count.get_all().front()));
  std::vector<Index> leaders = found.get_some(0, told);
  std::sort(leaders.begin(), leaders.end());
  for (Index& i : leaders) i = before(q.set) + narrowed(q.set).terms.point(i);
  return leaders;
}

TryExchanges::Reply CudaShard::answer(const TryExchanges& q) {
  const DevicePoints& own = candidates(q.set);
  const Narrowed& under = narrowed(q.set);
  const ExchangeTables& z = q.tables;
  const Index n = own.size(), dim = own.dim(), k = z.k;
  Array<double> with(*device_, 2 * k * dim);
  const Array<double> inverse = put(z.m), g = put(z.g), kappa = put(z.kappa), per_m = put(z.per_m);
  with.put(q.with.all());
  device_->blas().multiply({.left = {with.get(), k, dim, dim},
                            .right = {covariance(q.covariance), dim, dim, dim},
                            .out = with.get() + k * dim,
                            .out_stride = dim});
  std::vector<Index> chosen_places;
  const auto candidate = [&](Index point) {  // its place among them, or -1
    const Index own_point = point - before(q.set);
    const Index place = own_point < 0 ? n : under.terms.place(own_point);
    return place < n && under.terms.point(place) == own_point ? place : Index{-1};
  };
  for (const Index e : z.exemplars)
    if (const Index c = candidate(e); c >= 0) chosen_places.push_back(c);
  const Array<Index> of_exemplars(*device_, std::span<const Index>(z.partners.groups)),
      spare(*device_, std::span<const Index>(z.partners.spare)),
      groups_with_room(*device_, std::span<const Index>(z.partners.room));
  const Array<double> most = put(z.partners.most);
  std::vector<Index> pairs;  // places of an exemplar and of a candidate
  for (std::size_t l = 0; l + 1 < z.partners.refused.size(); l += 2)
    for (Index p = 0; p < k; ++p)
      if (const Index c = candidate(z.partners.refused[l + 1]);
          z.exemplars[at(p)] == z.partners.refused[l] && c >= 0)
        pairs.insert(pairs.end(), {p, c});
  const Array<Index> refused(*device_, std::span<const Index>(pairs));
  Array<char> chosen(*device_, n);
  chosen.set_to_zero();
  const Array<Index> marked(*device_, std::span<const Index>(chosen_places));
  launch_mark(*device_, marked.get(), marked.size(), chosen.get());
  Array<double> bw, y, x, e, st;
  Array<OfferOnCard> parts, best(*device_, k);
  launch_no_offers(*device_, best.get(), k);
  for_rows(own, 5 * k + 2, [&](Index first, Index last, const double* rows) {
    const Index count = last - first;
    if (bw.empty()) {
      bw = Array<double>(*device_, count * 2 * k);
      for (Array<double>* a : {&y, &x, &e}) *a = Array<double>(*device_, count * k);
      st = Array<double>(*device_, 2 * count);
      parts = Array<OfferOnCard>(*device_, block_count(count, part_rows) * k);
    }
    const auto multiply = [&](const Array<double>& left, Index stride, const Array<double>& right,
                              Array<double>& out) {
      device_->blas().multiply({.left = {left.get(), count, k, stride},
                                .right = {right.get(), k, k, k},
                                .out = out.get(),
                                .out_stride = k});
    };
    times(rows, count, dim, with.get(), 2 * k, bw.get(), 2 * k);
    multiply(bw, 2 * k, inverse, y);
    multiply(y, k, g, x);
    launch_subtract_from(*device_, bw.get(), x.get(), count, k);
    multiply(x, k, inverse, e);
    launch_offers(*device_, {.first = first,
                             .rows = count,
                             .k = k,
                             .bw = bw.get(),
                             .y = y.get(),
                             .x = x.get(),
                             .e = e.get(),
                             .r = r_.at(q.covariance).get(),
                             .squares = under.left.empty() ? own.squares() : under.left.get(),
                             .chosen = chosen.get(),
                             .partners = {.costs = under.costs.get(),
                                          .most = most.get(),
                                          .groups = under.groups.get(),
                                          .of_exemplars = of_exemplars.get(),
                                          .spare = spare.get(),
                                          .room = groups_with_room.get(),
                                          .refused = refused.get(),
                                          .refusals = std::ssize(pairs) / 2},
                             .eta_squared = under.left.empty() ? own.eta() * own.eta() : 0.0,
                             .mu = z.mu,
                             .step = z.step,
                             .kappa = kappa.get(),
                             .per_m = per_m.get(),
                             .st = st.get(),
                             .parts = parts.get(),
                             .best = best.get()});
  });
  TryExchanges::Reply offers;
  for (const OfferOnCard& o : best.get_all())
    offers.push_back({.point = o.point < 0 ? o.point : before(q.set) + under.terms.point(o.point),
                      .gain = o.gain});
  return offers;
}

std::vector<double> CudaShard::products(Index set, std::span<const Index> few) {
  const DevicePoints& own = points(set);
  const Index m = std::ssize(few), width = own.dim() + own_numbers;
  const Array<double> gathered(*device_, m * width), found(*device_, m * m);
  own.gather(few, gathered.get());
  const Matrix rows{gathered.get(), m, own.features(), width};
  device_->blas().multiply(
      {.left = rows, .right = rows, .transposed = true, .out = found.get(), .out_stride = m});
  std::vector<double> told = found.get_all();
  mirror(m, told);
  return told;
}

Among CudaShard::among(Index set, Index covariance_id, std::span<const Index> few) {
  const DevicePoints& own = points(set);
  const Index m = std::ssize(few), dim = own.dim(), width = dim + own_numbers;
  const Array<double> gathered(*device_, m * width), with_c(*device_, m * dim),
      products(*device_, m * m);
  own.gather(few, gathered.get());
  const Matrix rows{gathered.get(), m, dim, width};
  const auto multiply = [&](const Matrix& left, const Matrix& right, bool transposed,
                            const Array<double>& out, Index columns) {
    device_->blas().multiply({.left = left,
                              .right = right,
                              .transposed = transposed,
                              .out = out.get(),
                              .out_stride = columns});
  };
  Among found;
  multiply(rows, rows, true, products, m);
  found.k = products.get_all();
  multiply(rows, {covariance(covariance_id), dim, dim, dim}, false, with_c, dim);
  multiply({with_c.get(), m, dim, dim}, rows, true, products, m);
  found.kk = products.get_all();
  mirror(m, found.k), mirror(m, found.kk);
  return found;
}

BeyondSpan::Reply CudaShard::answer(const BeyondSpan& q) {
  const DevicePoints& own = points(q.set);
  const Index n = own.size();
  Array<double> squares = squares_beyond(own, q.orthonormal, own.features());
  weigh(q.set, squares.get());
  const double projection = sum_of(*device_, squares.get(), n);
  check(cudaMemcpyAsync(squares.get(), own.squares(), at(n) * sizeof(double),
                        cudaMemcpyDeviceToDevice, device_->stream()),
        "copying on the card");
  weigh(q.set, squares.get());
  return {.projection = {projection}, .trace = {sum_of(*device_, squares.get(), n)}};
}

}  // namespace fwsr::cuda
