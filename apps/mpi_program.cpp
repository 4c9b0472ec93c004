// The program fwsr-mpi, started once on every machine by mpirun: rank 0 is fwsr, with the points of all ranks in place of
// its own; the others serve it. docs/machines.md
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "apps/command.hpp"
#include "apps/machines.hpp"
#include "apps/shared_text.hpp"
#include "apps/text.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/narrow_source.hpp"
#include "fwsr/data/many_files.hpp"
#include "fwsr/methods/method_plan.hpp"
#include "fwsr/methods/run_method.hpp"
#include "fwsr/mpi/rank_shard.hpp"
#include "fwsr/mpi/ranks.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/select_points.hpp"
#include "fwsr/solver/sharded_points.hpp"
#include "fwsr/solver/sweep_points.hpp"

namespace fwsr::app {

namespace {

/// What a rank is told about the points that it is to hold.
struct About {
  std::vector<std::string> paths;
  Index rows = 0;              // of all of them
  std::vector<Index> members;  // those of a class; empty: all
  Preprocessing prep;
  bool streamed = false;  // they do not fit the memory
  int threads = 0;        // 0: its share of the cores
  mpi::RankDevice device = {};
};
template <class A>
void fields(A& a, About& v) {
  a(v.paths, v.rows, v.members, v.prep, v.streamed, v.threads, v.device);
}

/// So many points are worth no messages: one segment, which lies in one place anyway.
bool worth_sharing(Index n) {
  return n > segment_size(n);
}
/// Points that rank 0 may hold alone, where a request cannot be shared.
constexpr Index few_points = 30'000;

/// Whether the ranks run it together: what one process would do by the covariance form.
std::optional<std::string> not_shared(const PointsShape& shape, const SelectOptions& o,
                                      const Plan& alone) {
  if (auto why = not_by_shards(shape, o)) return why;
  if (alone.form != FormKind::covariance)
    return "serve fewer features than points; reduce these, or choose on one machine";
  return std::nullopt;
}

class Program final : public Machines {
 public:
  Program(const mpi::Communicator& communicator)
      : communicator_(communicator),
        on_this_machine_(communicator.on_this_machine()),
        ranks_(
            communicator, [this](std::span<const std::byte> about) { return open(about); },
            [this](std::span<const std::byte> what) { return text_.answer(what); }),
        text_(communicator, on_this_machine_) {}

  mpi::Ranks& ranks() { return ranks_; }

  Dataset load(const DataArguments& a, Index memory) override {
    if (a.path == "-")
      throw UsageError("fwsr-mpi reads files, which every rank can open; - is standard input");
    if (a.path == "digits" && access(a.path.c_str(), F_OK) != 0)
      throw UsageError(
          "fwsr-mpi reads files, which every rank can open; digits is a set that fwsr itself has");
    threads_named_ = a.threads;
    paths_ = must(files_named(a.path));
    Dataset data = must(TextSet::suits(paths_.front(), a.read.budget))
                       ? text_.load(ranks_, paths_, a.read, memory, threads_named_)
                       : must(join_files(paths_, a.read));
    data.name = a.path;
    return with_labels(a, std::move(data));
  }

  std::shared_ptr<const Chooser> chooser(const Request& request) override {
    return std::make_shared<const Chooser>(Chooser{
        .plan = [this, &request](const PlanFacts& facts,
                                 const SelectOptions& o) { return plan(request, facts, o); },
        .run =
            [this, &request](const PointsView& view, std::span<const Index> subset,
                             const SelectOptions& o, const Plan& plan, const Observer& observer) {
              return run(request, view, subset, o, plan, observer);
            }});
  }

  SweepPlan plan_sweep(const PointsView& view, const SelectOptions& o,
                       const std::vector<NumberOrAuto>& alphas,
                       const std::vector<double>& etas) override {
    const PlanFacts facts = as_held(facts_of(view, threads_of(o)));
    const Grid grid = make_grid(o, alphas, etas);
    refuse_settings(o, grid, facts.points, facts.features);
    PlanFacts anything = facts;
    anything.limit = 1e300;
    const Plan plan = make_plan(at_home(anything), on_processors(o));
    if (const auto why = sweep_not_shared(facts, o, plan)) {
      if (facts.points > few_points)
        throw OptionError("points that live in several places " + *why);
      SweepPlan alone = plan_settings(make_plan(at_home(anything), o), o, grid, 1);
      alone.each.notes.push_back(note_of_few_points);
      return alone;
    }
    return plan_settings(shared_plan(plan, facts, o), o, grid, 1);
  }

  std::vector<SweepEntry> sweep(const PointsView& view, const SelectOptions& o,
                                const SweepPlan& plan, const Observer& observer) override {
    const PlanFacts facts = as_held(facts_of(view, threads_of(o)));
    if (sweep_not_shared(facts, o, plan.each)) {
      const RowsHere rows = in_memory(view, {});
      return sweep_as_planned(rows.view, o, plan, observer);
    }
    const bool by_factor = plan.each.kernel_by == KernelBy::factor;
    open_on_all(view, {}, by_factor ? preprocessing_of(o) : without_eta(o), o, plan.each);
    std::vector<SweepEntry> entries =
        sweep_sharded(all_ranks(), shape_of(facts), o, plan.grid.alphas, plan.grid.etas, observer);
    for (SweepEntry& e : entries) e.selection.plan = plan.each;
    return entries;
  }

 private:
  static constexpr const char* note_of_few_points =
      "by rank 0 alone: what is asked of these few points is not shared";

  static std::optional<std::string> sweep_not_shared(const PlanFacts& facts, const SelectOptions& o,
                                                     const Plan& alone) {
    if (!worth_sharing(facts.points)) return "are too few to be shared";
    if (!o.conditions.empty() || o.budget)
      return "know no conditions in a sweep; choose for every setting by itself";
    return not_shared(shape_of(facts), o, alone);
  }

  /// What the view of a file does not tell: of libsvm, the points are sparse.
  PlanFacts as_held(PlanFacts facts) const {
    if (!text_.loaded() || !text_.sparse()) return facts;
    facts.sparse = true;
    facts.entries = share_of_entries(text_.entries(), facts.points, text_.rows());
    return facts;
  }
  /// Those of some of all points.
  static Index share_of_entries(Index entries, Index some, Index all) {
    return static_cast<Index>(std::ceil(static_cast<double>(entries) * static_cast<double>(some) /
                                        static_cast<double>(std::max<Index>(1, all))));
  }
  /// What is planned for ranks is planned as for processors; their cards come on top.
  static SelectOptions on_processors(SelectOptions o) {
    o.device = {};
    o.device_memory = 0;
    return o;
  }
  /// As if this process had memory for all points.
  static PlanFacts at_home(PlanFacts facts) {
    facts.streamed = false;
    facts.data_bytes = held_bytes(facts);
    return facts;
  }
  static Index held_bytes(const PlanFacts& facts) {
    return facts.sparse ? facts.entries * 16 + (facts.points + 1) * 8
                        : checked_bytes(facts.points, facts.features, facts.single ? 4 : 8);
  }

  std::shared_ptr<RemoteShards> all_ranks() {
    return std::make_shared<RemoteShards>(std::make_unique<mpi::RanksTransport>(ranks_));
  }

  /// Has every rank hold its points.
  void open_on_all(const PointsView& view, std::span<const Index> subset, const Preprocessing& prep,
                   const SelectOptions& o, const Plan& plan) {
    const Index n = subset.empty() ? rows_of(view) : std::ssize(subset);
    const Index share = checked_bytes(share_of(n), cols_of(view), is_single(view) ? 4 : 8);
    About about{.paths = paths_,
                .rows = rows_of(view),
                .members = {subset.begin(), subset.end()},
                .prep = prep,
                .streamed = plan.data_bytes < share,
                .threads = threads_named_,
                .device = mpi::device_of(o)};
    BytesWriter writer;
    writer(about);
    ranks_.open(writer.take());
  }

  static PointsShape shape_of(const PlanFacts& facts) {
    return {.size = facts.points,
            .features = facts.features,
            .sparse = facts.sparse,
            .single = facts.single};
  }

  /// What one process would do, had it memory enough.
  static Plan plan_alone(const Request& request, PlanFacts facts, const SelectOptions& o) {
    facts = at_home(facts);
    Plan plan = is_solver(*request.method)
                    ? make_plan(facts, o)
                    : plan_method(*request.method, request.settings, facts, o);
    plan.method = request.method->name;
    return plan;
  }

  Plan plan(const Request& request, const PlanFacts& given, SelectOptions o) const {
    const PlanFacts facts = as_held(given);
    if (o.device.kind == DeviceChoice::Kind::automatic)
      throw OptionError(
          "fwsr-mpi works on cards where --device cuda asks for them; write cuda or cpu");
    if (is_solver(*request.method)) {
      if (request.method->suit) request.method->suit(facts, o);
      PlanFacts anything = facts;
      anything.limit = 1e300;
      Plan plan = plan_alone(request, anything, on_processors(o));
      const auto why = not_shared(shape_of(facts), o, plan);
      if (!why && worth_sharing(facts.points)) return shared_plan(std::move(plan), facts, o);
      if (why && facts.points > few_points)
        throw OptionError("points that live in several places " + *why);
    } else if (facts.points > few_points) {
      throw OptionError(fmt::format(
          "{} looks at all points from one place; use exchange, fwsr or k-fwsr, or choose on one "
          "machine with fwsr",
          request.method->name));
    }
    Plan plan = plan_alone(request, facts, o);
    plan.notes.push_back(note_of_few_points);
    return plan;
  }

  /// How many points the rank with most of them has.
  Index share_of(Index n) const {
    const Index segment = segment_size(n);
    return std::min(n, block_count(block_count(n, segment), communicator_.size()) * segment);
  }

  /// What the largest share takes of the memory of its rank.
  Plan shared_plan(Plan plan, const PlanFacts& facts, const SelectOptions& given) const {
    const SelectOptions o = on_processors(given);
    const bool on_cards = given.device.kind == DeviceChoice::Kind::cuda;
    PlanFacts own = facts;
    own.points = share_of(facts.points);
    own.entries = share_of_entries(facts.entries, own.points, facts.points);
    own.limit = static_cast<double>(memory_of(o.memory));
    own.streamed = false;
    own.data_bytes = held_bytes(own);
    if (const auto why = mpi::not_on_cards(own, given)) throw OptionError(*why);
    Plan of_rank;
    try {
      of_rank = make_plan(own, o);
    } catch (const MemoryError&) {  // then they stay in their files
      if (text_.loaded() || on_cards) throw;
      own.streamed = true;
      own.data_bytes = facts.data_bytes;
      of_rank = make_plan(own, o);
    }
    plan.notes = of_rank.notes;
    plan.memory_bytes = of_rank.memory_bytes;
    plan.memory_per_thread = of_rank.memory_per_thread;
    plan.data_bytes = of_rank.data_bytes;
    plan.notes.push_back(
        fmt::format("shared by {} ranks of MPI, at most {} points each; memory is that of a rank",
                    communicator_.size(), own.points));
    if (on_cards) {
      plan.device = text_of(given.device);
      plan.device_bytes = static_cast<Index>(card_bytes(own, given, false));
      plan.notes.push_back(
          "each rank works on a card of its machine, ranks beyond their number share them");
    }
    return plan;
  }

  Selection run(const Request& request, const PointsView& view, std::span<const Index> subset,
                const SelectOptions& given, const Plan& plan, const Observer& observer) {
    const std::lock_guard lock(mutex_);  // one class after the other
    const SelectOptions o = as_planned(*request.method, given, plan);
    const PointsShape shape{.size = subset.empty() ? rows_of(view) : std::ssize(subset),
                            .features = cols_of(view),
                            .sparse = text_.loaded() && text_.sparse(),
                            .single = is_single(view)};
    Selection result;
    if (is_solver(*request.method) && worth_sharing(shape.size) && !not_shared(shape, o, plan)) {
      const mpi::Communicator::Traffic before = communicator_.traffic();
      open_on_all(view, subset, preprocessing_of(o), o, plan);
      result = select_sharded(all_ranks(), shape, o, observer);
      result.plan = plan;
      const mpi::Communicator::Traffic& now = communicator_.traffic();
      result.plan.notes.push_back(fmt::format(
          "rank 0 sent {} bytes and received {}, in {} messages", now.sent - before.sent,
          now.received - before.received, now.messages - before.messages));
    } else {
      const RowsHere rows = in_memory(view, subset);
      result = is_solver(*request.method)
                   ? select_points(rows.view, {}, o, plan, observer)
                   : run_method(*request.method, request.settings, request.seed, rows.view, {}, o,
                                plan, observer);
    }
    to_global_indices(subset, result);
    return result;
  }

  /// Some of the rows of a stream, or all.
  template <class T>
  static RowsHere copied(const StreamView<T>& v, std::span<const Index> subset) {
    const Index rows = subset.empty() ? v.rows : std::ssize(subset);
    if constexpr (std::is_same_v<T, float>)
      if (const NarrowSource* const narrow = narrow_source(v.source)) {
        const Index row = v.cols * bytes_of(narrow->number());
        auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(rows * row));
        if (subset.empty()) narrow->read_stored(0, rows, bytes->data());
        for (std::size_t i = 0; i < subset.size(); ++i)
          narrow->read_stored(subset[i], subset[i] + 1,
                              bytes->data() + static_cast<Index>(i) * row);
        const NarrowView all{.numbers = bytes->data(),
                             .number = narrow->number(),
                             .rows = rows,
                             .cols = v.cols,
                             .stride = v.cols};
        return {.keep = std::move(bytes), .view = all};
      }
    auto own = std::make_shared<std::vector<T>>(static_cast<std::size_t>(rows * v.cols));
    if (subset.empty()) v.source->read(0, rows, own->data());
    for (std::size_t i = 0; i < subset.size(); ++i)
      v.source->read(subset[i], subset[i] + 1, own->data() + static_cast<Index>(i) * v.cols);
    const MatrixView<const T> all(own->data(), rows, v.cols);
    return {.keep = std::move(own), .view = all};
  }
  RowsHere in_memory(const PointsView& view, std::span<const Index> subset) {
    if (text_.loaded())
      return subset.empty() ? text_.rows(0, rows_of(view)) : text_.some_rows(subset);
    return std::visit(
        [&](const auto& v) -> RowsHere {
          if constexpr (requires { v.source; })
            return copied(v, subset);
          else
            return {.keep = {}, .view = view};
        },
        view);
  }

  Index memory_of(Index asked) const {
    return asked > 0 ? asked : available_memory() / 10 * 8 / on_this_machine_;
  }

  /// On every rank: its points, and nobody else's.
  std::unique_ptr<ByteShard> open(std::span<const std::byte> bytes) {
    About about;
    BytesReader reader(bytes);
    reader(about);
    const Index n = about.members.empty() ? about.rows : std::ssize(about.members);
    const Portion own = mpi::portion_of(n, communicator_.rank(), communicator_.size());
    const Index hold = about.streamed ? 0 : std::numeric_limits<Index>::max();
    const int threads = about.threads > 0 ? about.threads : default_threads();
    Index rows_before = 0;
    members_.clear();
    if (about.members.empty()) {
      rows_before = own.first;
      rows_ = text_.loaded() ? text_.rows(own.first, own.first + own.size)
                             : must(read_rows(about.paths, own.first, own.first + own.size, hold));
    } else {
      members_.assign(about.members.begin() + own.first,
                      about.members.begin() + own.first + own.size);
      if (text_.loaded()) {
        rows_ = text_.some_rows(members_);
        std::iota(members_.begin(), members_.end(), Index{0});
      } else {
        rows_ = must(read_rows(about.paths, 0, about.rows, 0));
        if (about.device.card && own.size > 0) {  // which takes rows from memory
          rows_ = in_memory(rows_.view, members_);
          members_.clear();
        }
      }
    }
    return mpi::shard_of(communicator_, about.device, rows_.view, members_, about.prep, own,
                         rows_before, threads);
  }

  const mpi::Communicator& communicator_;
  int on_this_machine_;
  mpi::Ranks ranks_;
  SharedText text_;
  std::vector<std::string> paths_;
  int threads_named_ = 0;
  RowsHere rows_;
  std::vector<Index> members_;
  std::mutex mutex_;
};

/// Ranks of one machine share its cores, unless somebody has said how many each is to use, or has bound them to some.
void share_cores(int on_this_machine) {
  if (std::getenv("OMP_NUM_THREADS")) return;
  const int online = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  set_default_threads(std::clamp(online / on_this_machine, 1, default_threads()));
}

void ignore_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_IGN);
}

int run(int argc, char** argv) {
  const mpi::Communicator world(MPI_COMM_WORLD);
  share_cores(world.on_this_machine());
  Program program(world);
  if (!world.leads()) {
    // Signals that ask to end are rank 0's to hear: it tells the others.
    ignore_signals();
    program.ranks().serve();
    return 0;  // the exit code is rank 0's: mpirun ends all when it sees another
  }
  machines() = &program;
  const int code = run_guarded(argc, argv);
  ignore_signals();  // all is said and written
  program.ranks().end(code);
  return code;
}

}  // namespace

}  // namespace fwsr::app

int main(int argc, char** argv) {
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &given);
  int code = 1;
  try {
    code = fwsr::app::run(argc, argv);
  } catch (const std::exception& e) {  // the connection itself is broken
    std::fprintf(stderr, "fwsr-mpi: %s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return code;
}
