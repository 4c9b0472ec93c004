#include "fwsr/solver/exchange.hpp"

#include <algorithm>
#include <cmath>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/lapack.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/solver/middle.hpp"

namespace fwsr {

namespace {

/// out = left right of small matrices, row by row.
std::vector<double> product(const double* left, Index rows, const double* right, Index inner,
                            Index columns) {
  std::vector<double> out(at(rows * columns));
  if (rows > 0 && columns > 0 && inner > 0)
    multiply(Product<double>{
        .m = rows, .n = columns, .k = inner, .left = left, .right = right, .out = out.data()});
  return out;
}

ExchangeTables tables_of(const std::vector<Index>& exemplars, const Among& among, double mu,
                         double step) {
  const auto k = static_cast<Index>(exemplars.size());
  ExchangeTables z;
  z.k = k, z.mu = mu, z.step = step;
  z.exemplars = exemplars;
  z.g = among.kk;
  std::vector<double> ridged = among.k;
  for (Index p = 0; p < k; ++p) ridged[at(p * k + p)] += mu;
  z.m = inverse(ridged, k);
  const std::vector<double> mg = product(z.m.data(), k, z.g.data(), k, k);
  for (Index p = 0; p < k; ++p) {
    double mgm = 0;
    for (Index l = 0; l < k; ++l) mgm += mg[at(p * k + l)] * z.m[at(l * k + p)];
    z.per_m.push_back(1 / z.m[at(p * k + p)]);
    z.kappa.push_back(mgm * z.per_m.back());
  }
  return z;
}

/// The best exchanges among a few points, one after the other, until none gains more than `least`.
struct Search {
  Candidates candidates;
  std::vector<Index> chosen;  // places among them
  std::vector<bool> is_chosen;
  Index exchanges = 0;

  Search(const Among& among, Index all, Index k, double mu)
      : candidates(among, all, mu), is_chosen(at(all), false) {
    for (Index p = 0; p < k; ++p) {
      candidates.add(p);
      chosen.push_back(p);
      is_chosen[at(p)] = true;
    }
  }

  bool exchange_best(double least) {
    double most = least;
    Index best = -1, into = -1;
    for (Index j = 0; j < std::ssize(is_chosen); ++j)
      for (Index p = 0; p < std::ssize(chosen) && !is_chosen[at(j)]; ++p) {
        const double gain = candidates.gain_of_exchange(chosen[at(p)], j);
        if (gain > most)
          most = gain + least, best = p, into = j;  // by as much more than those before
      }
    if (best < 0) return false;
    candidates.drop(chosen[at(best)]);
    candidates.add(into);
    is_chosen[at(chosen[at(best)])] = false;
    is_chosen[at(into)] = true;
    chosen[at(best)] = into;
    ++exchanges;
    return true;
  }
};

/// Exemplars one after the other, each the one that adds most to those before it.
std::vector<Index> order_of(const Among& among, Index k, double mu, double least) {
  Candidates candidates(among, k, mu);
  std::vector<Index> order, left;
  for (Index p = 0; p < k; ++p) left.push_back(p);
  while (!left.empty()) {
    std::size_t best = 0;
    for (std::size_t l = 1; l < left.size(); ++l)
      if (candidates.gain(left[l]) > candidates.gain(left[best]) + least) best = l;
    order.push_back(left[best]);
    candidates.add(left[best]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return order;
}

}  // namespace

void Offer::see(const Offer& other, double step) {
  if (other.point < 0) return;
  const double mine = std::floor(gain / step), its = std::floor(other.gain / step);
  if (point < 0 || its > mine || (its == mine && other.point < point)) *this = other;
}

void see_rows(const ExchangeTables& z, const OfferRows& given, std::vector<Offer>& offers) {
  const Index k = z.k;
  const std::vector<double> y = product(given.b, given.rows, z.m.data(), k, k);
  std::vector<double> x = product(y.data(), given.rows, z.g.data(), k, k);
  for (std::size_t l = 0; l < x.size(); ++l) x[l] = given.w[l] - x[l];
  const std::vector<double> e = product(x.data(), given.rows, z.m.data(), k, k);
  std::vector<bool> chosen(at(given.rows));
  for (const Index own : z.exemplars)
    if (own >= given.first && own < given.first + given.rows) chosen[at(own - given.first)] = true;
  for (Index i = 0; i < given.rows; ++i) {
    if (chosen[at(i)]) continue;
    const double* const yi = y.data() + i * k;
    const double* const ei = e.data() + i * k;
    const double s = given.squares[i] - dot(given.b + i * k, yi, k);
    const double t = given.r[i] - dot(given.w + i * k, yi, k) - dot(x.data() + i * k, yi, k);
    for (Index p = 0; p < k; ++p) {
      const double u = yi[p] * yi[p] * z.per_m[at(p)];
      const double v = yi[p] * ei[p] * z.per_m[at(p)];
      const double gain = (t + 2 * v + u * z.kappa[at(p)]) / (z.mu + s + u) - z.kappa[at(p)];
      if (gain > offers[at(p)].gain || offers[at(p)].point < 0)
        offers[at(p)].see({.point = given.first + i, .gain = gain}, z.step);
    }
  }
}

Candidates::Candidates(const Among& among, Index count, double mu)
    : n_(count), mu_(mu), r_(among.k), q_(among.kk) {}

double Candidates::gain(Index j) const {
  return q_[at(j * n_ + j)] / (mu_ + r_[at(j * n_ + j)]);
}

double Candidates::loss(Index p) const {
  return q_[at(p * n_ + p)] / (mu_ - r_[at(p * n_ + p)]);
}

double Candidates::gain_of_exchange(Index p, Index j) const {
  const double rest = mu_ - r_[at(p * n_ + p)], kappa = loss(p);
  const double u = r_[at(p * n_ + j)], v = q_[at(p * n_ + j)];
  const double t = q_[at(j * n_ + j)] + (2 * u * v + u * u * kappa) / rest;
  return t / (mu_ + r_[at(j * n_ + j)] + u * u / rest) - kappa;
}

void Candidates::change(Index j, double sign) {
  const double root = std::sqrt(mu_ - sign * r_[at(j * n_ + j)]);
  std::vector<double> u(at(n_)), v(at(n_));
  for (Index i = 0; i < n_; ++i) {
    u[at(i)] = r_[at(j * n_ + i)] / root;
    v[at(i)] = q_[at(j * n_ + i)] / root;
  }
  const double kappa = q_[at(j * n_ + j)] / root / root;
  for (Index i = 0; i < n_; ++i)
    for (Index l = 0; l < n_; ++l) {
      const double uu = u[at(i)] * u[at(l)];
      r_[at(i * n_ + l)] += sign * uu;
      q_[at(i * n_ + l)] += sign * (u[at(i)] * v[at(l)] + v[at(i)] * u[at(l)]) + kappa * uu;
    }
  fallen_ -= sign * kappa;
}

void Candidates::add(Index j) {
  change(j, -1);
}

void Candidates::drop(Index p) {
  change(p, 1);
}

namespace {

/// The rows and columns `order` of k.
Among reordered(const Among& among, const std::vector<Index>& order, Index k) {
  Among found;
  for (const Index p : order)
    for (const Index l : order) {
      found.k.push_back(among.k[at(p * k + l)]);
      found.kk.push_back(among.kk[at(p * k + l)]);
    }
  return found;
}

double g_of(const Among& among, Index k, double mu, double whole) {
  return whole - Search(among, k, k, mu).candidates.fallen();
}

/// Exemplars, and those points that would be better than one of them.
std::vector<Index> pool_of(const std::vector<Index>& exemplars, const std::vector<Offer>& offers,
                           double least) {
  std::vector<Index> pool = exemplars;
  const auto k = static_cast<std::ptrdiff_t>(exemplars.size());
  for (const Offer& offer : offers)
    if (offer.point >= 0 && offer.gain > least) pool.push_back(offer.point);
  std::sort(pool.begin() + k, pool.end());
  pool.erase(std::unique(pool.begin() + k, pool.end()), pool.end());
  return pool;
}

/// After exchange: exemplars, what is known among them and what is told, all as they were where it is interrupted too
/// early.
void to_the_middle(MiddlePoints& middle, ExchangePoints& points, const ExchangeOptions& o,
                   std::vector<Index>& exemplars, Among& among, Exchanged& found) {
  try {
    Moved moved = move_to_middles(middle, exemplars, o.rounds);
    found.interrupted = moved.interrupted;
    found.middle_rounds = moved.rounds;
    if (moved.moves == 0) return;
    among = points.among(moved.exemplars);
    found.after = g_of(among, std::ssize(exemplars), o.mu, points.trace());
    found.moves = moved.moves;
    exemplars = std::move(moved.exemplars);
  } catch (const Interrupted&) {
    found.interrupted = true;
  }
}

}  // namespace

Exchanged exchange(ExchangePoints& points, std::vector<Index> exemplars, const ExchangeOptions& o,
                   const WatchExchange& watch, MiddlePoints* middle) {
  const auto k = static_cast<Index>(exemplars.size());
  const double whole = points.trace(), least = o.tie * whole;
  Exchanged found;
  if (!(whole > 0)) {  // all points are zero: nothing is to be represented
    found.exemplars = std::move(exemplars);
    found.local_optimum = true;
    found.m.assign(at(k * k), 0.0);
    return found;
  }
  found.mu = o.mu;
  Among among = points.among(exemplars);
  found.before = found.after = g_of(among, k, o.mu, whole);
  try {
    while (k > 0 && !found.local_optimum && (o.rounds == 0 || found.rounds < o.rounds)) {
      if (watch && !watch(found.rounds, found.exchanges, found.after)) throw Interrupted{};
      const std::vector<Offer> offers = points.offers(tables_of(exemplars, among, o.mu, least));
      const std::vector<Index> pool = pool_of(exemplars, offers, least);
      Search search(points.among(pool), std::ssize(pool), k, o.mu);
      const Index most = 16 * std::ssize(pool);  // where rounding might exchange for ever
      while (search.exchanges < most && search.exchange_best(least)) {
      }
      ++found.rounds;
      std::vector<Index> now;
      for (const Index place : search.chosen) now.push_back(pool[at(place)]);
      Among of_now = points.among(now);
      const double g = g_of(of_now, k, o.mu, whole);
      found.local_optimum = search.exchanges == 0 || !(g < found.after);  // the rest is rounding
      if (found.local_optimum) break;
      exemplars = std::move(now);
      among = std::move(of_now);
      found.after = g;
      found.exchanges += search.exchanges;
    }
  } catch (const Interrupted&) {
    found.interrupted = true;
  }
  found.after_exchange = found.after;
  if (middle && !found.interrupted) to_the_middle(*middle, points, o, exemplars, among, found);
  const std::vector<Index> order = order_of(among, k, o.mu, least);
  for (const Index p : order) found.exemplars.push_back(exemplars[at(p)]);
  const ExchangeTables z = tables_of(found.exemplars, reordered(among, order, k), o.mu, least);
  found.m = z.m;
  for (Index p = 0; p < k; ++p)
    found.radius += std::sqrt(std::max(0.0, z.kappa[at(p)] / z.per_m[at(p)]));
  return found;
}

}  // namespace fwsr
