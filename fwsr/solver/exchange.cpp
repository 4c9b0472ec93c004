#include "fwsr/solver/exchange.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fwsr/base/at.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/lapack.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/solver/middle.hpp"
#include "fwsr/solver/recorder.hpp"

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
  const Permitted* permitted = nullptr;        // null: everything is
  const std::vector<Index>* points = nullptr;  // who they are

  Search(const Among& among, Index all, Index k, double mu)
      : candidates(among, all, mu), is_chosen(at(all), false) {
    for (Index p = 0; p < k; ++p) {
      candidates.add(p);
      chosen.push_back(p);
      is_chosen[at(p)] = true;
    }
  }

  std::vector<Index> exemplars() const {
    std::vector<Index> found;
    for (const Index place : chosen) found.push_back((*points)[at(place)]);
    return found;
  }

  bool exchange_best(double least) {
    double most = least;
    Index best = -1, into = -1;
    const Partners partners = permitted->beside(exemplars());
    for (Index j = 0; j < std::ssize(is_chosen); ++j)
      for (Index p = 0; p < std::ssize(chosen) && !is_chosen[at(j)]; ++p) {
        if (!permitted->allow(partners, p, (*points)[at(j)])) continue;
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

namespace {

/// Who of some candidates may not come in at all, or not in the place of an exemplar.
class Barred {
 public:
  Barred(const ExchangeTables& z, const OfferRows& given)
      : z_(z), given_(given), chosen_(at(given.rows)) {
    for (const Index own : z.exemplars)
      if (const Index i = row_of(own); i >= 0) chosen_[at(i)] = true;
    for (std::size_t l = 0; l + 1 < z.partners.refused.size(); l += 2)
      if (const Index i = row_of(z.partners.refused[l + 1]); i >= 0)
        refused_.emplace_back(z.partners.refused[l], i);
  }

  bool chosen(Index i) const { return chosen_[at(i)]; }
  bool from(Index i, Index p) const {
    if (z_.partners.decide() &&
        !z_.partners.allow(p, given_.terms.point(given_.first + i), given_.terms))
      return true;
    return !refused_.empty() && std::find(refused_.begin(), refused_.end(),
                                          std::pair(z_.exemplars[at(p)], i)) != refused_.end();
  }

 private:
  /// The row of a point, or -1.
  Index row_of(Index point) const {
    const Index place = given_.terms.place(point - given_.before) - given_.first;
    const bool here = place >= 0 && place < given_.rows &&
                      given_.before + given_.terms.point(given_.first + place) == point;
    return here ? place : -1;
  }

  const ExchangeTables& z_;
  const OfferRows& given_;
  std::vector<bool> chosen_;
  std::vector<std::pair<Index, Index>> refused_;  // exemplar and row
};

}  // namespace

void see_rows(const ExchangeTables& z, const OfferRows& given, std::vector<Offer>& offers) {
  const Index k = z.k;
  const std::vector<double> y = product(given.b, given.rows, z.m.data(), k, k);
  std::vector<double> x = product(y.data(), given.rows, z.g.data(), k, k);
  for (std::size_t l = 0; l < x.size(); ++l) x[l] = given.w[l] - x[l];
  const std::vector<double> e = product(x.data(), given.rows, z.m.data(), k, k);
  const Barred barred(z, given);
  for (Index i = 0; i < given.rows; ++i) {
    if (barred.chosen(i)) continue;
    const double* const yi = y.data() + i * k;
    const double* const ei = e.data() + i * k;
    const double s = given.squares[i] - dot(given.b + i * k, yi, k);
    const double t = given.r[i] - dot(given.w + i * k, yi, k) - dot(x.data() + i * k, yi, k);
    const Index point = given.before + given.terms.point(given.first + i);
    for (Index p = 0; p < k; ++p) {
      const double u = yi[p] * yi[p] * z.per_m[at(p)];
      const double v = yi[p] * ei[p] * z.per_m[at(p)];
      const double gain = (t + 2 * v + u * z.kappa[at(p)]) / (z.mu + s + u) - z.kappa[at(p)];
      if ((gain > offers[at(p)].gain || offers[at(p)].point < 0) && !barred.from(i, p))
        offers[at(p)].see({.point = point, .gain = gain}, z.step);
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

/// Exemplars on their way to a local optimum.
class Exchanging {
 public:
  Exchanging(ExchangePoints& points, std::vector<Index> exemplars, const ExchangeOptions& o)
      : points_(points),
        o_(o),
        k_(std::ssize(exemplars)),
        least_(o.tie * points.whole()),
        exemplars_(start_of(o, std::move(exemplars))),
        among_(points.among(exemplars_)) {
    found_.mu = o.mu;
    found_.before = found_.after = g_of(among_, k_, o.mu, points.trace());
    if (const RecordedExchange* const before = known(o)) go_on_from(*before);
  }

  void run(const WatchExchange& watch) {
    try {
      while (k_ > 0 && !found_.local_optimum && (o_.rounds == 0 || found_.rounds < o_.rounds) &&
             fruitless_ < most_fruitless) {
        if (watch && !watch(found_.rounds, found_.exchanges, found_.after)) throw Interrupted{};
        visit();
        record();
      }
    } catch (const Interrupted&) {
      found_.interrupted = true;
    }
    found_.only_refused = fruitless_ == most_fruitless;
  }

  /// After the exchanges: all stays as it was where that is interrupted too early.
  void to_the_middle(MiddlePoints* middle) {
    found_.after_exchange = found_.after;
    if (!middle || found_.interrupted) return;
    try {
      Moved moved = move_to_middles(*middle, moved_from(), o_.rounds,
                                    [&](const Moved& so_far) { record(so_far); });
      found_.interrupted = moved.interrupted;
      found_.middle_rounds = moved.rounds;
      if (moved.moves == 0) return;
      among_ = points_.among(moved.exemplars);
      found_.after = g_of(among_, k_, o_.mu, points_.trace());
      found_.moves = moved.moves;
      exemplars_ = std::move(moved.exemplars);
    } catch (const Interrupted&) {
      found_.interrupted = true;
    }
  }

  /// The exemplars in the order of what each adds, and their codes.
  Exchanged answer() {
    const std::vector<Index> order = order_of(among_, k_, o_.mu, least_);
    for (const Index p : order) found_.exemplars.push_back(exemplars_[at(p)]);
    const ExchangeTables z =
        tables_of(found_.exemplars, reordered(among_, order, k_), o_.mu, least_);
    found_.m = z.m;
    for (Index p = 0; p < k_; ++p)
      found_.radius += o_.permitted.cost(found_.exemplars[at(p)]) *
                       std::sqrt(std::max(0.0, z.kappa[at(p)] / z.per_m[at(p)]));
    return std::move(found_);
  }

 private:
  /// What an earlier run has told.
  static const RecordedExchange* known(const ExchangeOptions& o) {
    if (!o.recorder || !o.recorder->known().exchange) return nullptr;
    return &*o.recorder->known().exchange;
  }
  [[noreturn]] static void refuse_record() {
    throw Error(
        "the checkpoint's exchanges lead elsewhere here: it is of other points; leave --resume "
        "out to begin anew, or name another file");
  }
  /// Where an earlier run was, or where this one begins.
  static std::vector<Index> start_of(const ExchangeOptions& o, std::vector<Index> exemplars) {
    const RecordedExchange* const before = known(o);
    if (!before) return exemplars;
    if (before->exemplars.size() != exemplars.size() ||
        before->exemplars_of_exchange.size() != exemplars.size())
      refuse_record();
    return before->exemplars_of_exchange;
  }
  void go_on_from(const RecordedExchange& before) {
    // The same bits where the same machine goes on; another one may round otherwise.
    constexpr double rounding = 1e-9;
    if (!(std::abs(before.after - found_.after) <= rounding * points_.whole())) refuse_record();
    found_.before = before.before;
    found_.after = before.after;
    found_.rounds = before.rounds;
    found_.exchanges = before.exchanges;
    found_.local_optimum = before.local_optimum;
    refused_ = before.refused;
    fruitless_ = before.fruitless;
  }
  Moved moved_from() const {
    const RecordedExchange* const before = known(o_);
    Moved from;
    from.exemplars = exemplars_;
    if (!before || before->middle_rounds == 0) return from;
    from.exemplars = before->exemplars;
    from.moves = before->moves;
    from.rounds = before->middle_rounds;
    from.ended = before->in_the_middle;
    return from;
  }
  void record(const Moved& moved = {}) {
    if (!o_.recorder) return;
    o_.recorder->exchange({.exemplars = moved.rounds > 0 ? moved.exemplars : exemplars_,
                           .exemplars_of_exchange = exemplars_,
                           .rounds = found_.rounds,
                           .exchanges = found_.exchanges,
                           .before = found_.before,
                           .after = found_.after,
                           .local_optimum = found_.local_optimum,
                           .refused = refused_,
                           .fruitless = fruitless_,
                           .middle_rounds = moved.rounds,
                           .moves = moved.moves,
                           .in_the_middle = moved.rounds > 0 && moved.ended});
  }

  /// Visits in a row that find only exchanges which `keeps` refuses. There may be any number of these.
  static constexpr Index most_fruitless = 16;

  void visit() {
    ExchangeTables z = tables_of(exemplars_, among_, o_.mu, least_);
    z.partners = o_.permitted.beside(exemplars_);
    z.partners.refused = refused_;
    const std::vector<Offer> offers = points_.offers(z);
    const std::vector<Index> pool = pool_of(exemplars_, offers, least_);
    Search search(points_.among(pool), std::ssize(pool), k_, o_.mu);
    search.permitted = &o_.permitted;
    search.points = &pool;
    const Index most = 16 * std::ssize(pool);  // where rounding might exchange for ever
    while (search.exchanges < most && search.exchange_best(least_)) {
    }
    ++found_.rounds;
    const std::vector<Index> now = search.exemplars();
    if (search.exchanges > 0 && o_.keeps && !o_.keeps(now))
      take_one(offers);
    else if (search.exchanges == 0 || !move_to(now, search.exchanges))
      found_.local_optimum = true;
  }

  /// False: what was gained is rounding, and all stays as it is.
  bool move_to(const std::vector<Index>& now, Index exchanges) {
    Among of_now = points_.among(now);
    const double g = g_of(of_now, k_, o_.mu, points_.trace());
    if (!(g < found_.after)) return false;
    exemplars_ = now;
    among_ = std::move(of_now);
    found_.after = g;
    found_.exchanges += exchanges;
    refused_.clear();
    fruitless_ = 0;
    return true;
  }

  /// The best of the offers that is kept, by itself; those that are not are refused from now on.
  void take_one(const std::vector<Offer>& offers) {
    std::vector<Index> places;
    for (Index p = 0; p < k_; ++p)
      if (offers[at(p)].point >= 0 && offers[at(p)].gain > least_) places.push_back(p);
    std::stable_sort(places.begin(), places.end(),
                     [&](Index a, Index b) { return offers[at(a)].gain > offers[at(b)].gain; });
    for (const Index p : places) {
      std::vector<Index> now = exemplars_;
      now[at(p)] = offers[at(p)].point;
      if (o_.keeps(now) && move_to(now, 1)) return;
      refused_.push_back(exemplars_[at(p)]);
      refused_.push_back(offers[at(p)].point);
    }
    ++fruitless_;
  }

  ExchangePoints& points_;
  const ExchangeOptions& o_;
  Index k_;
  double least_;
  std::vector<Index> exemplars_;
  Among among_;
  Exchanged found_;
  std::vector<Index> refused_;  // as in Partners
  Index fruitless_ = 0;
};

}  // namespace

Exchanged exchange(ExchangePoints& points, std::vector<Index> exemplars, const ExchangeOptions& o,
                   const WatchExchange& watch, MiddlePoints* middle) {
  if (!(points.whole() > 0)) {  // all points are zero: nothing is to be represented
    Exchanged found;
    found.m.assign(exemplars.size() * exemplars.size(), 0.0);
    found.exemplars = std::move(exemplars);
    found.local_optimum = true;
    return found;
  }
  Exchanging state(points, std::move(exemplars), o);
  state.run(watch);
  state.to_the_middle(middle);
  return state.answer();
}

}  // namespace fwsr
