#include "python/bindings/shards.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "fwsr/base/narrow_source.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/base/row_pieces.hpp"
#include "fwsr/methods/request.hpp"
#include "fwsr/prep/frame.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/journal.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/sharded_points.hpp"
#include "fwsr/solver/sweep_points.hpp"
#include "fwsr/solver/transport.hpp"
#include "python/bindings/options.hpp"
#include "python/bindings/points.hpp"
#include "python/bindings/results.hpp"
#include "python/bindings/watched.hpp"

namespace fwsr::python {

namespace {

namespace nb = nanobind;
using namespace nb::literals;

std::span<const std::byte> bytes_of(const nb::bytes& bytes) {
  return {static_cast<const std::byte*>(bytes.data()), bytes.size()};
}
nb::bytes to_python(const Bytes& bytes) {
  return nb::bytes(bytes.data(), bytes.size());
}

template <class T>
nb::bytes packed(T value) {
  BytesWriter writer;
  writer(value);
  return to_python(writer.take());
}

// -------------------------------------------------------------------------------- where points live

/// Narrow rows in several pieces, one after the other, all of one type.
class NarrowPieces final : public NarrowSource {
 public:
  explicit NarrowPieces(std::vector<NarrowView> pieces) : pieces_(std::move(pieces)) {
    for (const NarrowView& piece : pieces_) starts_.push_back(starts_.back() + piece.rows);
  }
  Index rows() const { return starts_.back(); }
  NarrowNumber number() const override { return pieces_.front().number; }
  void read(Index first, Index last, float* out) const override {
    each(first, last, [&](const NarrowView& piece, Index row) {
      piece.read(row, row + 1, out);
      out += piece.cols;
    });
  }
  void read_stored(Index first, Index last, std::byte* out) const override {
    const Index size = fwsr::bytes_of(number());
    each(first, last, [&](const NarrowView& piece, Index row) {
      out = std::copy_n(piece.address(row), piece.cols * size, out);
    });
  }

 private:
  template <class Use>
  void each(Index first, Index last, Use&& use) const {
    auto p = static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), first) -
                                      starts_.begin() - 1);
    for (Index row = first; row < last; ++row) {
      while (row >= starts_[p + 1]) ++p;
      use(pieces_[p], row - starts_[p]);
    }
  }

  std::vector<NarrowView> pieces_;
  std::vector<Index> starts_{0};
};

/// Some of all points, in pieces that are borrowed where they stand.
class Shard {
 public:
  /// `pieces`: Points, one after the other, from point `first` of `of` on.
  Shard(const nb::list& pieces, const nb::bytes& preprocessing, Index first, Index of, int threads)
      : pieces_(pieces), shard_(threads, [this] { return !stopped_; }) {
    Preprocessing prep;
    BytesReader reader(bytes_of(preprocessing));
    reader(prep);
    const PointsView view = view_of(pieces);
    shard_.add(0, std::make_unique<Points>(view, std::span<const Index>{}, prep,
                                           Portion(first, rows_of(view), of), first));
  }

  /// What this shard says to the last of some questions, the others being told before: what went wrong is part of it.
  nb::bytes answer(const std::vector<nb::bytes>& questions) {
    Bytes reply;
    {
      const nb::gil_scoped_release released;
      for (const nb::bytes& question : questions) {
        reply = fwsr::answer(shard_, bytes_of(question));
        Outcome outcome = Outcome::error;
        if (BytesReader reader(reply); !reply.empty()) reader(outcome);
        if (outcome != Outcome::answered) break;
      }
    }
    return to_python(reply);
  }

  /// From any thread: what is being answered is answered with Interrupted.
  void stop() { stopped_ = true; }

 private:
  PointsView view_of(const nb::list& pieces) {
    if (pieces.size() == 1) return nb::cast<const GivenPoints&>(pieces[0]).here();
    std::vector<MatrixView<const float>> single;
    std::vector<MatrixView<const double>> wide;
    std::vector<NarrowView> narrow;
    Index cols = 0;
    for (const nb::handle piece : pieces) {
      const PointsView& view = nb::cast<const GivenPoints&>(piece).here();
      cols = cols_of(view);
      if (const auto* v = std::get_if<MatrixView<const float>>(&view)) single.push_back(*v);
      if (const auto* v = std::get_if<MatrixView<const double>>(&view)) wide.push_back(*v);
      if (const auto* v = std::get_if<NarrowView>(&view))
        if (narrow.empty() ||
            (v->number == narrow.front().number && v->cols == narrow.front().cols))
          narrow.push_back(*v);
    }
    const std::size_t count = pieces.size();
    if (single.size() == count) return stream(single, cols, single_);
    if (wide.size() == count) return stream(wide, cols, wide_);
    if (narrow.size() == count && count > 0) {
      narrow_.emplace(std::move(narrow));
      return StreamView<float>{.source = &*narrow_, .rows = narrow_->rows(), .cols = cols};
    }
    throw Error("pieces of points must be dense and of one type; join sparse ones first");
  }
  template <class T>
  static PointsView stream(const std::vector<MatrixView<const T>>& pieces, Index cols,
                           std::optional<RowPieces<T>>& to) {
    for (const MatrixView<const T>& piece : pieces)
      if (piece.cols != cols)
        throw Error(fmt::format("pieces of points have {} and {} features", piece.cols, cols));
    to.emplace(pieces);
    return StreamView<T>{.source = &*to, .rows = to->rows(), .cols = cols};
  }

  nb::object pieces_;  // kept alive
  std::optional<RowPieces<float>> single_;
  std::optional<RowPieces<double>> wide_;
  std::optional<NarrowPieces> narrow_;
  std::atomic<bool> stopped_ = false;
  PointShard shard_;
};

// ------------------------------------------------------------------------------------- who leads

/// Has a function of Python's carry the questions: ask(question, broken_off) returns the answers of all shards, first to
/// last. broken_off() is true when nobody waits for them any more.
class ByPython final : public Transport {
 public:
  ByPython(nb::object ask, const Watched& watched, std::optional<Common>& learnt)
      : ask_(std::move(ask)), watched_(watched), learnt_(learnt) {}
  ByPython(const ByPython&) = delete;
  ByPython& operator=(const ByPython&) = delete;
  ~ByPython() override {
    if (Live::ending()) {  // Python's objects go with it
      (void)ask_.release();
      return;
    }
    const nb::gil_scoped_acquire acquired;
    ask_.reset();
  }

  std::vector<Bytes> ask(const Bytes& question) override {
    if (watched_.broken_off()) throw Interrupted{};
    listen(question);
    const nb::gil_scoped_acquire acquired;
    const nb::object broken_off = nb::cpp_function([this] { return watched_.broken_off(); });
    std::vector<Bytes> answers;
    for (const nb::handle answer : ask_(to_python(question), broken_off)) {
      const auto bytes = nb::cast<nb::bytes>(answer);
      const auto all = bytes_of(bytes);
      answers.emplace_back(all.begin(), all.end());
    }
    return answers;
  }

 private:
  /// What all points have in common is told to them: means and deviations are wanted for new points.
  void listen(const Bytes& question) {
    BytesReader reader(question);
    std::int32_t number = -1;
    reader(number);
    if (number != Questions::number<OfSet<FindNumbers>>()) return;
    OfSet<FindNumbers> own;
    reader(own);
    if (own.set == 0) learnt_ = std::move(own.question.common);
  }

  nb::object ask_;
  const Watched& watched_;
  std::optional<Common>& learnt_;
};

std::shared_ptr<RemoteShards> shards_by(const nb::object& ask, const Watched& watched,
                                        std::optional<Common>& learnt) {
  return std::make_shared<RemoteShards>(std::make_unique<ByPython>(ask, watched, learnt));
}

Observer observer_of(const CompareObserver& observer) {
  return [&observer](const Progress& p) { return observer({.method = 0, .trial = 0, .run = p}); };
}

/// A selection, or a sweep, of points elsewhere: led from here.
class ShardedRun {
 public:
  ShardedRun(Index points, Index features, bool sparse, bool single, const nb::dict& options,
             const std::string& method, const nb::dict& settings, std::uint64_t seed)
      : shape_{.size = points, .features = features, .sparse = sparse, .single = single},
        request_(read_options(options), read_choice(method, settings, seed)),
        settled_(request_.settled_for(shape_)) {}

  /// What the shards are made with.
  nb::bytes preprocessing(bool for_sweep) const { return packed(prep(for_sweep)); }
  std::string kernel() const { return name_of(settled_.kernel.type); }

  nb::object select(const nb::object& ask, const nb::object& callback, bool every_step) {
    Watched watched({callback, every_step});
    swept_ = false;
    return python::to_python(watched.run([&](const CompareObserver& observer) {
      return request_.run(shards_by(ask, watched, learnt_), shape_, observer_of(observer));
    }));
  }

  /// Tuples of alpha, eta and a selection.
  nb::list sweep(const nb::object& ask, const nb::list& alphas, const std::vector<double>& etas,
                 const nb::object& callback, bool every_step) {
    const std::vector<NumberOrAuto> listed = read_list("alphas", alphas);
    Watched watched({callback, every_step});
    swept_ = true;
    auto entries = watched.run([&](const CompareObserver& observer) {
      return sweep_sharded(shards_by(ask, watched, learnt_), shape_, settled_, listed, etas,
                           observer_of(observer));
    });
    nb::list all;
    for (SweepEntry& e : entries)
      all.append(
          nb::make_tuple(as_python(e.alpha), e.eta, python::to_python(std::move(e.selection))));
    return all;
  }

  /// How the points were scaled and centred, for new ones. After a run.
  Frame frame() const {
    if (!learnt_) throw Error("what the points have in common is known after a run");
    return frame_from(prep(swept_), *learnt_, shape_.features);
  }

 private:
  Preprocessing prep(bool for_sweep) const {
    return for_sweep ? without_eta(settled_) : preprocessing_of(settled_);
  }

  PointsShape shape_;
  Request request_;
  SelectOptions settled_;
  std::optional<Common> learnt_;
  bool swept_ = false;
};

nb::tuple question_facts(const nb::bytes& question) {
  const QuestionFacts facts = facts_of_question(bytes_of(question));
  if (!facts.known) throw Error("a question that is not known here");
  return nb::make_tuple(facts.changes, facts.tells);
}

/// What a shard answers to a question that only tells something.
nb::bytes told() {
  BytesWriter writer;
  Outcome outcome = Outcome::answered;
  writer(outcome);
  return to_python(writer.take());
}

}  // namespace

void bind_shards(nb::module_& m) {
  nb::class_<Shard>(m, "Shard", "Some of all points, which live in several places.")
      .def(nb::init<const nb::list&, const nb::bytes&, Index, Index, int>(), "pieces"_a,
           "preprocessing"_a, "first"_a, "of"_a, "threads"_a)
      .def("answer", &Shard::answer, "questions"_a)
      .def("stop", &Shard::stop);
  nb::class_<ShardedRun>(m, "ShardedRun", "A selection of points that live in several places.")
      .def(nb::init<Index, Index, bool, bool, const nb::dict&, const std::string&, const nb::dict&,
                    std::uint64_t>(),
           "points"_a, "features"_a, "sparse"_a, "single"_a, "options"_a, "method"_a, "settings"_a,
           "seed"_a)
      .def("preprocessing", &ShardedRun::preprocessing, "for_sweep"_a)
      .def_prop_ro("kernel", &ShardedRun::kernel)
      .def_prop_ro("frame", &ShardedRun::frame)
      .def("select", &ShardedRun::select, "ask"_a, "callback"_a.none(), "every_step"_a)
      .def("sweep", &ShardedRun::sweep, "ask"_a, "alphas"_a, "etas"_a, "callback"_a.none(),
           "every_step"_a);
  nb::class_<Journal>(m, "Journal", "What changed the shards, to be asked again of a new one.")
      .def(nb::init<>())
      .def(
          "add",
          [](Journal& journal, const nb::bytes& question) {
            return journal.add(bytes_of(question));
          },
          "question"_a)
      .def_prop_ro("entries",
                   [](const Journal& journal) {
                     nb::list all;
                     for (const Journal::Entry& e : journal.entries())
                       all.append(nb::make_tuple(e.id, to_python(e.question)));
                     return all;
                   })
      .def_prop_ro("size", &Journal::bytes);
  m.def("question_facts", question_facts, "question"_a);
  m.def("told", told);
  m.def("segment_size", segment_size, "points"_a);
}

}  // namespace fwsr::python
