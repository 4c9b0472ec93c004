// The PointSet of points that are somewhere else, on other machines or on a card: what they share (scale, means, eta) is
// learnt by asking them, as anything else is.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fwsr/prep/copies.hpp"
#include "fwsr/prep/statistics.hpp"
#include "fwsr/solver/gathered_points.hpp"
#include "fwsr/solver/kernel_of_few.hpp"

namespace fwsr {

/// Unless the shards hold all points, one after the other, and are of one kind.
void refuse_other_points(const std::vector<WhichPoints::Reply>& told, const PointsShape& shape);

template <class Shards>
class LearntPoints : public GatheredPoints<Shards> {
  using Base = GatheredPoints<Shards>;

 public:
  /// The set that the shards hold as this number, which has not been asked anything yet.
  LearntPoints(std::shared_ptr<Shards> shards, const PointsShape& shape, const Preprocessing& prep,
               Index set = 0)
      : LearntPoints(shards, set, learn_all(*shards, set, shape, prep)) {}
  /// The points of `without`, which has no eta, with one.
  LearntPoints(LearntPoints& without, double eta, bool eta_relative)
      : LearntPoints(without, Base::new_id(), eta, eta_relative) {}

  const PointsShape& shape() const { return learnt_.shape; }
  const std::optional<std::string>& warning() const { return learnt_.warning; }

  /// a_i into `out`; returns ||a_i||^2 without eta.
  double fetch(Index i, double* out) const {
    double square = 0;
    for (const RowsOf::Reply& reply :
         this->shards()->ask(RowsOf{.set = this->set(), .points = {i}}))
      if (!reply.which.empty()) {
        std::copy(reply.rows.begin(), reply.rows.end(), out);
        square = reply.squares.front();
      }
    return square;
  }

  void whole_rows_of(std::span<const Index> points, double* out) const override {
    const Index dim = this->facts().dim;
    for (const RowsOf::Reply& reply :
         this->shards()->ask(RowsOf{.set = this->set(), .points = {points.begin(), points.end()}}))
      for (std::size_t w = 0; w < reply.which.size(); ++w)
        std::copy_n(reply.rows.begin() + static_cast<Index>(w) * dim, dim,
                    out + reply.which[w] * dim);
  }
  void rows_of(std::span<const Index> points, double* out) const override {
    whole_rows_of(points, out);
    for (std::size_t p = 0; p < points.size(); ++p)
      this->leave_rest(out + static_cast<Index>(p) * this->facts().dim);
  }

  /// Points of their own, the same as these, in this order.
  std::unique_ptr<Points> copies(const std::vector<Index>& points) const {
    if constexpr (requires(const Shards& here) { here.some(Index{}, points); })
      return this->shards()->some(this->set(), points);
    else
      return points_from(this->shards()->ask(CopiesOf{.set = this->set(), .points = points}));
  }

  /// How a kernel between the few that a run has picked reaches them. @pre the points outlive it
  FewPoints few() const {
    FewPoints few = few_by_copies();
    if constexpr (requires(Shards & here) { here.products(Index{}, std::vector<Index>()); })
      few.products = [this](const std::vector<Index>& points) {
        return this->shards()->products(this->set(), points);
      };
    return few;
  }
  std::unique_ptr<KernelMatrix> kernel() const { return make_kernel_of_few(few()); }

 private:
  FewPoints few_by_copies() const {
    return {.facts = this->facts(),
            .squares =
                [this](const std::vector<Index>& points) {
                  std::vector<double> squares(points.size());
                  const RowsOf question{.set = this->set(), .points = points, .rows_too = false};
                  for (const RowsOf::Reply& reply : this->shards()->ask(question))
                    for (std::size_t w = 0; w < reply.which.size(); ++w)
                      squares[static_cast<std::size_t>(reply.which[w])] = reply.squares[w];
                  return squares;
                },
            .copies = [this](const std::vector<Index>& points) { return copies(points); }};
  }

  /// What all points share, as far as it is needed here.
  struct Learnt {
    PointsShape shape;
    Preprocessing prep;
    PointFacts facts{};
    bool in_double = false;
    double scale = 1;
    std::optional<std::string> warning{};
  };

  LearntPoints(std::shared_ptr<Shards> shards, Index set, Learnt learnt)
      : Base(std::move(shards), set, learnt.facts), learnt_(std::move(learnt)) {}
  LearntPoints(LearntPoints& without, Index set, double eta, bool eta_relative)
      : LearntPoints(without, set, learn_eta(without, set, eta, eta_relative)) {}
  LearntPoints(LearntPoints& without, Index set, Learnt learnt)
      : Base(without, set, learnt.facts), learnt_(std::move(learnt)) {}

  /// Puts questions of preprocessing to one set, and remembers the scale that its points were told.
  class AskSet {
   public:
    AskSet(Shards& shards, Index set, SetScale& told) : shards_(shards), set_(set), told_(told) {}

    template <class Question>
    std::vector<typename Question::Reply> operator()(const Question& question) const {
      if constexpr (std::is_same_v<Question, SetScale>) told_ = question;
      return shards_.ask(OfSet<Question>{.set = set_, .question = question});
    }

   private:
    Shards& shards_;
    Index set_;
    SetScale& told_;
  };

  static PointFacts facts_from(const Learnt& all, const SetScale& told) {
    const PointsShape& shape = all.shape;
    return {.size = shape.size,
            .dim = shape.features + (told.eta != 0 ? 1 : 0),
            .features = shape.features,
            .single = shape.single,
            .in_double = all.in_double,
            .unit = told.unit,
            .eta = told.eta,
            .rms_norm = told.rms_norm};
  }

  static Learnt learn_all(Shards& shards, Index set, const PointsShape& shape,
                          const Preprocessing& prep) {
    const std::vector<WhichPoints::Reply> which = shards.ask(WhichPoints{.set = set});
    refuse_other_points(which, shape);
    Learnt all{.shape = shape, .prep = prep};
    all.in_double =
        std::any_of(which.begin(), which.end(), [](const auto& s) { return s.in_double; });
    SetScale told;
    const AskSet ask(shards, set, told);
    all.warning = learn(shape, prep, [&](const auto& question) {
      if constexpr (std::is_same_v<std::decay_t<decltype(question)>, FindNumbers>)
        all.scale = question.common.scale;
      return ask(question);
    });
    all.facts = facts_from(all, told);
    return all;
  }

  static Learnt learn_eta(LearntPoints& without, Index set, double eta, bool eta_relative) {
    Learnt all = without.learnt_;
    all.prep.eta = eta;
    all.prep.eta_relative = eta_relative;
    Shards& shards = *without.shards();
    shards.ask(MakeSet{.set = set, .of = without.set(), .eta = eta, .eta_relative = eta_relative});
    SetScale told;
    learn_scale(all.shape, all.prep, all.scale, AskSet(shards, set, told));
    all.facts = facts_from(all, told);
    return all;
  }

  Learnt learnt_;
};

}  // namespace fwsr
