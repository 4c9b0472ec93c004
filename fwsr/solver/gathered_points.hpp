// The PointSet whose points are held by one shard or many: it asks them all (questions.hpp), and adds up what they say,
// first shard to last. So one shard and a hundred give the same bits.
//
// `Shards` says how they are reached:  std::vector<Question::Reply> ask(const Question&)  in the order of the shards. Where
// it has `holds_covariance`, products with C are left to them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "fwsr/linalg/gram.hpp"
#include "fwsr/linalg/projection.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/solver/asked_rows.hpp"
#include "fwsr/solver/covariance.hpp"
#include "fwsr/solver/exchange_points.hpp"
#include "fwsr/solver/gathered_distances.hpp"
#include "fwsr/solver/point_set.hpp"
#include "fwsr/solver/questions.hpp"
#include "fwsr/solver/scores.hpp"

namespace fwsr {

template <class Shards>
class GatheredPoints : public PointSet {
 public:
  /// Set number `set` of the shards.
  GatheredPoints(std::shared_ptr<Shards> shards, Index set, const PointFacts& facts)
      : shards_(std::move(shards)), set_(set), facts_(facts), in_double_(facts.in_double) {}
  /// The points of `without`, which has no eta, with one: C and r come from those without, and one pass serves runs of
  /// both.
  GatheredPoints(GatheredPoints& without, Index set, const PointFacts& facts)
      : shards_(without.shards_),
        set_(set),
        facts_(facts),
        without_(&without),
        in_double_(facts.in_double) {}

  /// Set 0 is whose the shards are; any other was made for this.
  ~GatheredPoints() override {
    if (set_ != 0) forget(*shards_, Forget::What::set, set_);
  }

  PointFacts facts() const override { return facts_; }

  void narrow(const Terms& terms) override {
    if (terms.plain()) return;
    costs_ = terms.costs;
    shards_->ask(Narrow{.set = set_,
                        .weights = terms.weights,
                        .costs = terms.costs,
                        .some = !terms.candidates.empty(),
                        .candidates = terms.candidates,
                        .groups = terms.groups});
    included_ = span_of(rows(terms.included).rows, facts_.dim, facts_.dim);
    open_.reset();
    left_kept_ = false;
    in_double_ = facts_.in_double || terms.weighted() || !terms.included.empty();
  }

  std::shared_ptr<const Covariance> covariance(bool single) override {
    single = single && !in_double_;
    const std::size_t which = single ? 1 : 0;
    if (auto held = known_[which].lock()) return held;
    if (without_ && facts_.eta == 0) return base_of(which);
    auto* const own = new Covariance{.c = {}, .single = single, .id = new_id()};
    // Whatever happens to it, the shards drop their r when nobody holds it any more.
    std::shared_ptr<const Covariance> made(own, ForgetIt{shards_});
    Covariance& c = *own;
    if (without_)
      border(*base_of(which), c);
    else if (single)
      find_in_single(c);
    else
      find_in_double(c);
    known_[which] = made;
    return made;
  }

  std::unique_ptr<PointRun> begin(const Covariance& covariance) override {
    auto run = std::make_unique<Run>(shards_, new_id(), seen_);
    shards_->ask(BeginRun{.set = set_, .covariance = covariance.id, .run = run->id()});
    return run;
  }

  void row(Index i, double* out) const override {
    whole_row(i, out);
    leave_rest(out);
  }
  void whole_row(Index i, double* out) const override {
    if (seen_->copy(i, out)) return;
    const AskedRows found = rows({i});
    std::copy(found.rows.begin(), found.rows.end(), out);
  }

  void advance(std::span<const PointUpdate> updates) override { ask_steps(updates, false); }
  void advance_in_turn(std::span<const PointUpdate> updates) override { ask_steps(updates, true); }

  LinearSums describe(const Covariance& covariance, const CodesOf& x, const Wanted& wanted,
                      Selection& selection) const override {
    AskedRows basis = rows(x.theta.basis);
    std::vector<double> norms;
    for (std::size_t b = 0; b < x.theta.basis.size() && x.left; ++b) {
      double* const row = basis.rows.data() + static_cast<Index>(b) * facts_.dim;
      norms.push_back(std::sqrt(dot(row, row, facts_.dim)));
      leave_rest(row);
    }
    std::span<const double> c = covariance.c;
    if constexpr (requires { Shards::holds_covariance; })
      c = {};  // products with it are made there
    DescribeCodes question{
        .set = set_,
        .covariance = covariance.id,
        .tables =
            make_tables(x,
                        {.rows = basis.rows,
                         .taken_away = basis.taken_away,
                         .dim = facts_.dim,
                         .features = facts_.features,
                         .norms = std::move(norms)},
                        {.c = c, .r_error = covariance.r_error, .largest_r = covariance.largest_r},
                        wanted.sums),
        .wanted = wanted};
    selection.assignment.clear();
    selection.codes.clear();
    return gather_sweep(shards_->ask(question), question.tables, selection);
  }

  double residual_sum(const CodesOf& x) const override {
    const ResidualVectors codes = vectors(x);
    if (x.left && few_open()) {
      // R is in the span of u_1 .. u_o, and u^T R are products of the points with E^T u.
      const std::vector<double> w = score_vectors(codes, open());
      return w.empty() ? 0.0 : total_of(shards_->ask(ProjectedSquares{.set = set_, .w = w}));
    }
    return total_of(shards_->ask(ResidualSquares{.set = set_, .codes = codes}));
  }

  double score_of(Index i, const CodesOf& x) const override { return score_of(i, vectors(x)); }

  ScoreBound largest_score(const CodesOf& x) const override {
    constexpr Index few = 16;  // so many are scored one by one, a pass over the points each
    const ResidualVectors codes = vectors(x);
    const Gram gram = total_gram(shards_->ask(ResidualMoments{.set = set_, .codes = codes}));
    double f = 0;
    for (Index l = 0; l < facts_.dim; ++l) f += gram.products[at(l * facts_.dim + l)];
    double least = 0, most = 0, largest = 0;
    for (const auto& s : shards_->ask(ResidualScores{.set = set_, .rr = gram.products, .f = f})) {
      largest = std::max(largest, s.largest);
      least = std::max(least, s.least);
      most = std::max(most, s.most);
    }
    std::vector<Index> leaders;
    for (const auto& some :
         shards_->ask(ResidualLeaders{.set = set_, .f = f, .least = least, .few = few}))
      leaders.insert(leaders.end(), some.begin(), some.end());
    const bool clear = most - least <= 1e-9 * largest;
    if (clear || std::ssize(leaders) > few)
      return {.score = std::sqrt(largest), .error = std::sqrt(most) - std::sqrt(largest)};
    ScoreBound best;
    for (const Index i : leaders)
      best.score =
          std::max(best.score, score_of(i, codes) / (costs_.empty() ? 1.0 : costs_[at(i)]));
    return best;
  }

  std::vector<Offer> offers(const Covariance& covariance,
                            const ExchangeTables& tables) const override {
    if (!included_.empty() && !left_kept_) {
      shards_->ask(KeepLeft{.set = set_, .orthonormal = included_});
      left_kept_ = true;
    }
    std::vector<double> with = rows(tables.exemplars).rows;
    for (Index p = 0; p < tables.k; ++p) leave_rest(with.data() + p * facts_.dim);
    if constexpr (!requires { Shards::holds_covariance; }) {
      const std::vector<double> with_c = times_covariance(with, covariance.c, facts_.dim);
      with.insert(with.end(), with_c.begin(), with_c.end());
    }
    std::vector<Offer> best(at(tables.k));
    for (const std::vector<Offer>& some : shards_->ask(TryExchanges{
             .set = set_, .covariance = covariance.id, .tables = tables, .with = with}))
      for (std::size_t p = 0; p < best.size(); ++p) best[p].see(some[p], tables.step);
    return best;
  }

  Middles middles(const std::vector<Index>& exemplars, const MiddleWeights& weights) override {
    MiddleTables tables = middle_tables(exemplars, rows(exemplars).rows, facts_.dim, weights);
    add_means(tables, total_of(shards_->ask(SumGroups{.set = set_, .tables = tables})));
    Middles found{.offers = std::vector<Offer>(exemplars.size()), .least = tables.least};
    for (const std::vector<Offer>& some : shards_->ask(FindMiddles{.set = set_, .tables = tables}))
      for (std::size_t p = 0; p < some.size(); ++p) found.offers[p].see(some[p], tables.least);
    return found;
  }

  Regression project(std::span<const Index> exemplars, int threads) const override {
    const AskedRows chosen = rows({exemplars.begin(), exemplars.end()});
    const std::vector<double> span = span_of(chosen.rows, facts_.dim, facts_.features, threads);
    std::vector<SegmentSums<double>> projection, trace;
    for (BeyondSpan::Reply& s : shards_->ask(BeyondSpan{.set = set_, .orthonormal = span})) {
      projection.push_back(std::move(s.projection));
      trace.push_back(std::move(s.trace));
    }
    const double projected = total_of(projection);
    return {.projection = projected, .ridge = projected, .trace = total_of(trace)};
  }

  std::unique_ptr<PointDistances> distances() override {
    return std::make_unique<GatheredDistances<Shards>>(shards_, set_, facts_.dim, new_id());
  }

  /// Of a point what the included exemplars leave.
  void leave_rest(double* row) const {
    if (included_.empty()) return;
    const double whole = dot(row, row, facts_.dim);
    beyond_included(row, 1);
    constexpr double nothing = 1e-24;  // of what is spanned the rest is rounding
    if (dot(row, row, facts_.dim) <= nothing * whole) std::fill_n(row, facts_.dim, 0.0);
  }

  /// Orthonormal rows that span what is included; none: nothing is.
  const std::vector<double>& included() const { return included_; }

  const std::shared_ptr<Shards>& shards() const { return shards_; }
  Index set() const { return set_; }

  /// A number that no set, run or covariance has had.
  static Index new_id() {
    static std::atomic<Index> last{0};
    return ++last;
  }

 private:
  /// The row that came with a leader: it is what is asked for next.
  class SeenRow {
   public:
    void keep(Index point, std::vector<double> row) {
      const std::lock_guard lock(mutex_);
      point_ = point;
      row_ = std::move(row);
    }
    bool copy(Index point, double* out) const {
      const std::lock_guard lock(mutex_);
      if (point != point_) return false;
      std::copy(row_.begin(), row_.end(), out);
      return true;
    }

   private:
    mutable std::mutex mutex_;
    Index point_ = -1;
    std::vector<double> row_;
  };

  class Run final : public PointRun {
   public:
    Run(std::shared_ptr<Shards> shards, Index id, std::shared_ptr<SeenRow> seen)
        : shards_(std::move(shards)), id_(id), seen_(std::move(seen)) {}
    ~Run() override { forget(*shards_, Forget::What::run, id_); }
    Index id() const { return id_; }

    Leader leader(double tie) const override {
      double largest = -std::numeric_limits<double>::infinity();
      if constexpr (requires { Shards::far; }) {
        std::vector<Lead::Reply> all = shards_->ask(Lead{.run = id_, .tie = tie});
        for (const Lead::Reply& s : all)
          if (!(s.largest <= largest)) largest = s.largest;
        // What is within reach of a shard's own largest score may be out of that of all.
        const double enough = enough_of(largest, tie);
        const auto leads = std::find_if(all.begin(), all.end(),
                                        [&](const Lead::Reply& s) { return s.largest >= enough; });
        if (leads != all.end() && leads->score >= enough && leads->first.point >= 0) {
          seen_->keep(leads->first.point, std::move(leads->row));
          return {.point = leads->first.point, .square = leads->first.square};
        }
      } else {
        for (const double s : shards_->ask(LargestScore{.run = id_}))
          if (!(s <= largest)) largest = s;
      }
      for (const auto& found :
           shards_->ask(FirstScore{.run = id_, .enough = enough_of(largest, tie)}))
        if (found.point >= 0) return {.point = found.point, .square = found.square};
      return {.point = 0, .square = largest};  // scores that are not numbers
    }

    void offer(std::span<const double> prices) override {
      shards_->ask(SetPrices{.run = id_, .prices = prices});
    }

    void rescore(const Covariance& covariance, const std::vector<double>& e) override {
      shards_->ask(Rescore{.run = id_, .c = covariance.c, .e = e});
    }

   private:
    std::shared_ptr<Shards> shards_;
    Index id_;
    std::shared_ptr<SeenRow> seen_;
  };

  struct ForgetIt {
    std::shared_ptr<Shards> shards;
    void operator()(const Covariance* c) const {
      forget(*shards, Forget::What::covariance, c->id);
      delete c;
    }
  };

  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }

  void ask_steps(std::span<const PointUpdate> updates, bool in_turn) {
    if (updates.empty()) return;
    Advance question{.set = set_, .steps = {}, .in_turn = in_turn};
    question.steps.reserve(updates.size());
    for (const PointUpdate& u : updates)
      question.steps.push_back({.run = static_cast<const Run*>(u.run)->id(),
                                .covariance = u.covariance->id,
                                .a = u.a,
                                .av = u.av,
                                .rv = u.rv,
                                .step = u.step});
    shards_->ask(question);
  }

  AskedRows rows(std::vector<Index> points) const {
    return ask_rows(*shards_, set_, std::move(points), facts_.dim);
  }

  /// What is left of a point is a - Q a - A_T Theta A_B^T a, with T and B what is left of these: Q = V^T V, so that the
  /// rows of V are exemplars, basis and, with theta = I, codes like others.
  ResidualVectors vectors_of_left(const CodesOf& x) const {
    const Index more = std::ssize(included_) / facts_.dim, m = std::ssize(x.theta.basis),
                k = std::ssize(x.exemplars);
    const auto behind_included = [&](const std::vector<Index>& points) {
      std::vector<double> all = included_, own = rows(points).rows;
      for (std::size_t p = 0; p < points.size(); ++p)
        leave_rest(own.data() + static_cast<Index>(p) * facts_.dim);
      all.insert(all.end(), own.begin(), own.end());
      return all;
    };
    ResidualVectors found{.dim = facts_.dim,
                          .basis = behind_included(x.theta.basis),
                          .chosen = behind_included(x.exemplars),
                          .theta = std::vector<double>(at((more + k) * (more + m)))};
    for (Index v = 0; v < more; ++v) found.theta[at(v * (more + m) + v)] = 1;
    for (Index t = 0; t < k; ++t)
      std::copy_n(x.theta.theta.begin() + t * m, m,
                  found.theta.begin() + (more + t) * (more + m) + more);
    return found;
  }

  ResidualVectors vectors(const CodesOf& x) const {
    if (x.left) return vectors_of_left(x);
    return {.dim = facts_.dim,
            .basis = rows(x.theta.basis).rows,
            .chosen = rows(x.exemplars).rows,
            .theta = x.theta.theta};
  }

  /// Whether what is left of the points lies in so few directions that products with these are less work than residuals.
  bool few_open() const {
    const Index rank = std::ssize(included_) / std::max<Index>(1, facts_.dim);
    return facts_.dim - rank <= 2 * rank && facts_.size >= 4 * facts_.dim;
  }

  /// Orthonormal rows along all that the included exemplars leave.
  const std::vector<double>& open() const {
    if (!open_) open_ = orthonormal_beyond(included_, facts_.dim);
    return *open_;
  }

  double score_of(Index i, const ResidualVectors& codes) const {
    const std::vector<double> w = score_vectors(codes, rows({i}).rows);
    return std::sqrt(total_of(shards_->ask(ProjectedSquares{.set = set_, .w = w})));
  }

  static double largest_of(const std::vector<double>& values) {
    return *std::max_element(values.begin(), values.end());
  }

  /// Rows v <- (I - Q) v, Q the projection on the span of what is included.
  void beyond_included(double* rows, Index count) const {
    const Index dim = facts_.dim;
    take_away(included_, {.first = rows, .count = count, .d = dim, .stride = dim});
  }

  void find_in_double(Covariance& to) {
    to.c = total_gram(shards_->ask(Moments{.set = set_, .single = false, .shift = {}})).products;
    mirror(facts_.dim, to.c);
    take_from(included_, facts_.dim, to);
    to.largest_r = largest_of(shards_->ask(KeepForms{.set = set_, .id = to.id, .c = to.c}));
    to.r_error = std::numeric_limits<double>::epsilon() * to.largest_r;
    // What was taken away has left its rounding; the longest point has a norm near 1.
    for (Index l = 0; l < facts_.dim && !to.whole.empty(); ++l)
      to.r_error += 16 * std::numeric_limits<double>::epsilon() * to.whole[at(l * facts_.dim + l)];
  }

  /// Some points at a time: memory that is taken for the first time costs more than the sum.
  std::vector<double> mean_of_some() const {
    const Index n = facts_.size, sample = std::min<Index>(n, 256);
    const Index at_once =
        std::clamp<Index>(16384 / std::max<Index>(1, facts_.dim), 16, sample + 16);
    std::vector<double> mean(at(facts_.dim));
    for (Index first = 0; first < sample; first += at_once) {
      std::vector<Index> some;
      for (Index i = first; i < std::min(sample, first + at_once); ++i)
        some.push_back(i * n / sample);
      const std::vector<double> a = rows(std::move(some)).rows;
      for (std::size_t l = 0; l < a.size(); ++l)
        mean[l % mean.size()] += a[l] / static_cast<double>(sample);
    }
    return mean;
  }

  void find_in_single(Covariance& to) {
    const Index n = facts_.size;
    const std::vector<double> m = mean_of_some();
    const Gram gram = total_gram(shards_->ask(Moments{.set = set_, .single = true, .shift = m}));
    SingleCovariance found = covariance_from(gram, m, n);
    to.c = std::move(found.c);
    double most = 0, longest = 0;
    for (const auto& forms : shards_->ask(KeepFormsInSingle{.set = set_,
                             .id = to.id,
                             .b = gram.products,
                             .m = m,
                             .s = gram.rows,
                             .cm = found.cm})) {
      most = std::max(most, forms.most);
      longest = std::max(longest, forms.longest);
    }
    to.r_error = error_of_single({.m = m, .s = gram.rows, .cm = found.cm}, most, longest, n);
    to.largest_r = bound_of_single(to.c, m, longest);
  }

  /// C and r of the points without eta, held as long as there are sets with one.
  const std::shared_ptr<const Covariance>& base_of(std::size_t which) {
    auto& base = without_->shared_[which];
    if (!base) base = without_->covariance(which == 1);
    return base;
  }

  void border(const Covariance& base, Covariance& to) {
    const PointFacts& plain = without_->facts_;
    const std::vector<double> sum = total_of(shards_->ask(SumPoints{.set = without_->set_}));
    std::vector<double> s;
    double largest = -std::numeric_limits<double>::infinity();
    for (auto& reply : shards_->ask(KeepBordered{.set = set_,
                       .without = without_->set_,
                       .id = to.id,
                       .id_without = base.id,
                       .sum = sum})) {
      s = std::move(reply.s);
      largest = std::max(largest, reply.largest);
    }
    const double t = facts_.unit / plain.unit;
    to.c = bordered_covariance(
        base.c, s, {.scale = t, .eta = facts_.eta, .n = facts_.size, .dim = facts_.dim});
    to.r_error = t * t * (t * t) * base.r_error + std::numeric_limits<double>::epsilon() * largest;
    to.largest_r = largest;
  }

  std::shared_ptr<Shards> shards_;
  std::shared_ptr<SeenRow> seen_ = std::make_shared<SeenRow>();
  Index set_;
  PointFacts facts_;
  GatheredPoints* without_ = nullptr;
  std::vector<double> costs_;       // of the points; empty: 1 each
  std::vector<double> included_;    // orthonormal rows that span what is included
  bool in_double_ = false;          // products in float32 would not do
  mutable bool left_kept_ = false;  // whether the shards know what is left of points
  mutable std::optional<std::vector<double>> open_;  // beyond included_, once somebody asked
  std::weak_ptr<const Covariance> known_[2];         // in double, in single
  std::shared_ptr<const Covariance> shared_[2];      // held for the sets with an eta
};

}  // namespace fwsr
