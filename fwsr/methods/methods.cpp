#include "fwsr/methods/methods.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "fwsr/base/finite.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/blas_room.hpp"
#include "fwsr/methods/distances.hpp"
#include "fwsr/methods/task.hpp"
#include "fwsr/solver/clock.hpp"
#include "fwsr/solver/fill.hpp"
#include "fwsr/solver/plan_time.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/regression.hpp"
#include "fwsr/solver/select_points.hpp"
#include "fwsr/solver/watch.hpp"

namespace fwsr {

#define METHOD(name) Method name##_method();
#include "fwsr/methods/table.def"
#undef METHOD

const std::vector<Method>& methods() {
  static const std::vector<Method> table = {
#define METHOD(name) name##_method(),
#include "fwsr/methods/table.def"
#undef METHOD
  };
  return table;
}

const Method& find_method(std::string_view name) {
  std::string names;
  for (const Method& m : methods()) {
    if (m.name == name) return m;
    names += (names.empty() ? "" : ", ") + m.name;
  }
  throw Error(fmt::format("there is no method '{}'; the methods are {}", name, names));
}

namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

template <class T>
bool read_all(const std::string& text, T& value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc{} && end == text.data() + text.size();
}

/// The text as a value of the knob's type, or a sentence about what is wrong with it.
struct ReadValue {
  const Knob& knob;
  const std::string& text;

  Value operator()(double) const {
    double v = 0;
    if (!read_all(text, v) || !std::isfinite(v)) refuse("a number");
    return in_range(v, v);
  }
  Value operator()(Index) const {
    Index v = 0;
    if (!read_all(text, v)) refuse("a whole number");
    return in_range(v, static_cast<double>(v));
  }
  Value operator()(bool) const {
    if (text != "yes" && text != "no") refuse("yes or no");
    return text == "yes";
  }
  Value operator()(const std::string&) const {
    if (std::find(knob.words.begin(), knob.words.end(), text) == knob.words.end())
      refuse(fmt::format("one of {}", fmt::join(knob.words, ", ")));
    return text;
  }

 private:
  [[noreturn]] void refuse(const std::string& wanted) const {
    throw Error(fmt::format("{} = '{}' is not {}", knob.name, text, wanted));
  }
  template <class T>
  Value in_range(T v, double as_number) const {
    if (as_number < knob.least)
      throw Error(fmt::format("{} must be at least {}, got {}", knob.name, knob.least, text));
    if (as_number > knob.most)
      throw Error(fmt::format("{} must be at most {}, got {}", knob.name, knob.most, text));
    return v;
  }
};

std::string knob_names(const Method& method) {
  std::string names;
  for (const Knob& knob : method.knobs) names += (names.empty() ? "" : ", ") + knob.name;
  return names;
}

}  // namespace

Settings settings_of(const Method& method, const std::map<std::string, std::string>& given) {
  std::map<std::string, Value, std::less<>> values;
  for (const Knob& knob : method.knobs) values[knob.name] = knob.value;
  for (const auto& [name, text] : given) {
    const auto knob = std::find_if(method.knobs.begin(), method.knobs.end(),
                                   [&, &n = name](const Knob& k) { return k.name == n; });
    if (knob == method.knobs.end())
      throw Error(fmt::format("{} has no setting '{}'; {}", method.name, name,
                              method.knobs.empty() ? "it has none at all"
                                                   : fmt::format("it has {}", knob_names(method))));
    values[name] = std::visit(ReadValue{*knob, text}, knob->value);
  }
  return Settings(std::move(values));
}

bool is_common_option(std::string_view name) {
  for (const char* common : {"exemplars", "kernel", "gamma", "degree", "coef0", "center", "scale",
                             "fill", "lambda", "rho", "certificate"})
    if (name == common) return true;
  return false;
}

namespace {

/// A matrix of dissimilarities has no points: what is done to points cannot be done to it.
void refuse_beside_dissimilarities(const SelectOptions& o) {
  const char* const refused =
      o.center.value_or(Center::none) != Center::none || o.scale != Scale::none
          ? "center and scale are"
      : o.kernel.type != KernelType::linear ? "kernel is"
      : o.fill                              ? "fill is"
      : o.lambda || o.rho                   ? "lambda and rho are"
                                            : nullptr;
  if (refused)
    throw Error(
        fmt::format("{} for points, and metric = precomputed says that the data is a matrix of "
                    "dissimilarities; leave that out",
                    refused));
}

}  // namespace

SelectOptions options_for(const Method& method, const Settings& settings, SelectOptions o) {
  if (method.uses_rbf && o.kernel.type == KernelType::linear) o.kernel.type = KernelType::rbf;
  if (!method.choose) return o;
  if (!o.center) o.center = Center::none;
  if (takes_dissimilarities(settings)) refuse_beside_dissimilarities(o);
  if (!method.any_kernel && o.kernel.type != KernelType::linear)
    throw Error(fmt::format("{} works on the points themselves, not in the space of the {} kernel",
                            method.name, name_of(o.kernel.type)));
  if (o.codes && !method.codes)
    throw Error(
        fmt::format("{} has no codes: it chooses points without representing the others by "
                    "them; leave codes out",
                    method.name));
  const SelectOptions untouched;
  std::vector<std::string> foreign;
  describe(o, [&](const char* name, const auto& value, const char*) {
    if (is_common_option(name)) return;
    describe(untouched, [&](const char* other, const auto& fallback, const char*) {
      if constexpr (std::is_same_v<decltype(value), decltype(fallback)>)
        if (std::string_view(name) == other && !(value == fallback)) foreign.push_back(name);
    });
  });
  if (!foreign.empty())
    throw Error(fmt::format(
        "{} is an option of fwsr, not of {}{}", foreign.front(), method.name,
        method.knobs.empty() ? "" : fmt::format(", whose settings are {}", knob_names(method))));
  return o;
}

namespace {

/// Numbers kept of every point (points.hpp).
double common_bytes(const Sizes& s) {
  return 8 * (4 * s.n + 4 * s.d);
}

/// What is held after the choice: to find the nearest exemplars, blocks of points and the exemplars; for the
/// certificate a basis of what they span, too. Of sparse points nothing but the basis is expanded.
double closing_bytes(const Sizes& s, const SelectOptions& o, bool dissimilarities) {
  const double crew = s.crew(384), values = 384 * 2 * s.k;
  if (dissimilarities) return 8 * crew * values;
  const bool basis = o.certificate == CertificateKind::full && s.linear;
  if (s.sparse && o.kernel.type != KernelType::laplacian) {
    const double width = Points::sparse_rows;
    const double stored = 96 * std::min(s.d, width * s.row()), places = 96 / width * s.d / 2;
    const double both = basis ? (2 * s.k + std::ceil(s.k / width) * width) * s.d : 0;
    return 8 * std::max(both + crew * s.d, crew * (stored + places + 2 * s.d + values));
  }
  const double rows = std::min(s.n, basis ? 384.0 : 96.0);
  return 8 * ((basis ? 2 * s.k * s.d : 0) + crew * ((rows + std::min(384.0, s.k)) * s.d + values));
}

/// What every method ends with: the nearest exemplar of every point, and least squares for the certificate. And begins
/// with: one or two looks at the points.
void count_closing(const Sizes& s, const SelectOptions& o, Plan& plan) {
  plan.setup += {.loops = 40 * s.entries, .bytes = 2 * s.number * s.entries};
  if (!s.linear) plan.setup += {.loops = 1000 * std::pow(std::min(1000.0, s.n), 2)};
  const double values = s.n * s.k;
  plan.closing = s.sparse ? Operations{.loops = 23 * values * s.row()}
                          : Operations{.products = 2 * values * s.d};
  plan.closing += {.loops = 4 * values};
  if (o.certificate != CertificateKind::full) return;
  if (!s.linear)
    plan.closing = 2 * plan.closing + Operations{.loops = values * (6 * s.k + 240)};
  else if (s.sparse)
    plan.closing += {.products = 100 * s.k * s.k * s.d, .loops = 23 * s.entries * s.k};
  else
    plan.closing += {.products = 16 * values * s.d + 4 * s.k * s.k * s.d};
}

Plan plan_by(const Method& method, const Settings& settings, const PlanFacts& facts,
             const SelectOptions& o) {
  const Sizes s{
      .n = static_cast<double>(facts.points),
      .d = static_cast<double>(facts.features),
      .k = static_cast<double>(o.exemplars),
      .entries = static_cast<double>(facts.entries),
      .number = facts.single ? 4.0 : 8.0,
      .threads = static_cast<double>(facts.threads),
      .linear = o.kernel.type == KernelType::linear || o.kernel.type == KernelType::cosine,
      .sparse = facts.sparse};
  const Cost cost = method.cost(s, settings);
  const double limit = facts.limit > 0 ? facts.limit : memory_limit(facts.data_bytes, o);
  const double answer = 8 * s.k * s.n * (o.codes ? 2 : 0) + 8 * s.n;
  const double before = gamma_bytes(s.n, s.d, facts.sparse, o.kernel);
  const double own =
      std::max({before, cost.bytes, closing_bytes(s, o, takes_dissimilarities(settings))}) +
      common_bytes(s) + answer;
  const bool in_memory =
      facts.streamed && !method.streams;  // what was streamed has to be held after all
  const double data = in_memory ? s.entries * s.number : static_cast<double>(facts.data_bytes);
  const double needed =
      data + static_cast<double>(facts.label_bytes) + own * static_cast<double>(facts.side_by_side);
  if (needed > limit || in_memory)
    throw MemoryError(
        fmt::format("{} needs {} for {} points of {} features, these included, but only {} may be "
                    "used ({}); allow "
                    "more memory, or choose a method that needs less, such as fwsr, k-fwsr with a "
                    "rank, or kmedoids-batch",
                    method.name, format_bytes(needed), facts.points, facts.features,
                    format_bytes(limit), cost.how));
  Plan plan{.method = method.name,
            .why = cost.how,
            .points = facts.points,
            .features = facts.features,
            .exemplars = o.exemplars,
            .threads = facts.threads,
            .memory_bytes = static_cast<Index>(own),
            .data_bytes = facts.data_bytes,
            .setup_flops = cost.flops,
            .setup = {.products = cost.flops}};
  if (!takes_dissimilarities(settings)) count_closing(s, o, plan);
  return plan;
}

/// A point goes to the exemplar with the largest code, of equal ones to the first chosen.
std::vector<Index> assign_by_codes(const std::vector<double>& codes, Index n, Index k) {
  std::vector<Index> to(at(n), 0);
  for (Index i = 0; i < n; ++i)
    for (Index t = 1; t < k; ++t)
      if (std::abs(codes[at(t * n + i)]) > std::abs(codes[at(to[at(i)] * n + i)])) to[at(i)] = t;
  return to;
}

/// Whether a setting is there and is this word.
bool has_word(const Settings& settings, std::string_view name, std::string_view word) {
  const auto found = settings.all().find(name);
  if (found == settings.all().end()) return false;
  const auto* const value = std::get_if<std::string>(&found->second);
  return value && *value == word;
}

/// A point goes to the nearest exemplar, of equal ones to the first chosen; an exemplar to itself.
std::vector<Index> assign_to_nearest(const Task& task, const std::vector<Index>& exemplars) {
  const Index n = task.size(), k = static_cast<Index>(exemplars.size());
  std::vector<Index> to(at(n), 0);
  const auto itself = [&] {
    for (Index t = 0; t < k; ++t) to[at(exemplars[at(t)])] = t;
    return to;
  };
  for (const char* metric : {"manhattan", "cosine", "precomputed"})
    if (has_word(task.settings, "metric", metric)) {
      to = nearest_of(Distances(task, metric), exemplars, task.threads, task.alive).which;
      return itself();
    }
  for_blocks(
      task.threads, n,
      [&](Index, Index first, Index last) {
        stop_unless(task.alive);
        std::vector<Index> points(at(last - first));
        std::iota(points.begin(), points.end(), first);
        const std::vector<double> values = task.kernel->values(points, exemplars);
        for (Index i = first; i < last; ++i) {
          double least = std::numeric_limits<double>::infinity();
          for (Index t = 0; t < k; ++t) {  // ||a_i - a_t||^2 less K_ii
            const double far =
                task.kernel->diagonal(exemplars[at(t)]) - 2 * values[at((i - first) * k + t)];
            const double doubt =
                1e-14 * (task.kernel->diagonal(exemplars[at(t)]) + task.kernel->diagonal(i));
            if (far < least - doubt) least = far, to[at(i)] = t;
          }
        }
      },
      384);
  return itself();
}

/// All that is said about the picks: the same for every method.
void describe_picks(const Task& task, Picks picks, const SelectOptions& o, Selection& result) {
  const auto found = static_cast<Index>(picks.exemplars.size());
  result.status = picks.status;
  const bool explained = !picks.warnings.empty();  // the method says why there are fewer
  if (found < o.exemplars && result.status == Status::exemplars_reached)
    result.status = explained ? Status::converged : Status::exhausted;
  if (picks.assignment.empty() && found > 0) {
    if (!picks.codes.empty())
      picks.assignment = assign_by_codes(picks.codes, task.size(), found);
    else
      picks.assignment = assign_to_nearest(task, picks.exemplars);
  }
  result.exemplars = std::move(picks.exemplars);
  result.strength = std::move(picks.strength);
  result.strength.resize(at(found), 0.0);
  result.weights.assign(at(found), 0.0);
  for (const Index t : picks.assignment) ++result.weights[at(t)];
  result.filled.assign(at(found), false);
  if (o.assignment) result.assignment = std::move(picks.assignment);
  if (o.codes) {
    result.codes.resize(picks.codes.size());
    for (Index t = 0; t < found; ++t)
      for (Index i = 0; i < task.size(); ++i)
        result.codes[at(i * found + t)] = picks.codes[at(t * task.size() + i)];
  }
  result.facts = std::move(picks.facts);
  result.warnings = std::move(picks.warnings);
  if (found < o.exemplars)
    result.warnings.push_back(
        fmt::format("asked for {}, found {}{}{}", o.exemplars, found,
                    explained ? "" : ": the others add nothing (copies, or already represented)",
                    o.fill ? "; the rest was filled up with the farthest points"
                           : "; fill would add the farthest ones"));
  if (task.points && task.points->warning()) result.warnings.push_back(*task.points->warning());
  if (!task.kernel) return;
  if (o.fill) fill_up(*task.kernel, o.exemplars, task.threads, o.codes, result);
  if (o.certificate != CertificateKind::full) return;
  const double unit = task.unit(), none = std::numeric_limits<double>::quiet_NaN();
  const Regression errors =
      regress(*task.kernel, task.linear ? task.points : nullptr, result.exemplars,
              o.rho ? *o.rho * unit : -1.0, task.threads, task.alive);
  require_finite(errors.trace);
  require_finite(errors.projection);
  result.f_at_zero = errors.trace / unit / unit;
  result.certificate =
      Certificate{.f = none,
                  .f_at_zero = result.f_at_zero,
                  .gap = none,
                  .beta = none,
                  .radius_used = none,
                  .reconstruction_error = errors.trace > 0 ? errors.projection / errors.trace : 0.0,
                  .boolean_objective = {},
                  .f_error = none,
                  .gap_error = none};
  if (o.lambda && o.rho)
    result.certificate->boolean_objective =
        *o.lambda * static_cast<double>(result.exemplars.size()) + errors.ridge / unit / unit;
}

/// Classes of one run draw different numbers, whatever their order.
std::uint64_t seed_for(std::uint64_t seed, std::span<const Index> subset) {
  if (subset.empty()) return seed;
  return Rng(seed).split(static_cast<std::uint64_t>(subset.front()) + 1).next();
}

Selection choose_points(const Method& method, const Settings& settings, std::uint64_t seed,
                        const PointsView& view, std::span<const Index> subset,
                        const SelectOptions& o, const Plan& plan, const Observer& observer) {
  const SerialBlas serial;
  make_room_for_products(threads_of(o));
  Selection result;
  result.plan = plan;
  const auto start = Clock::now();
  Watch watch(observer, o.exemplars);
  const Alive alive = watch.alive();
  try {
    Task task{.subset = subset,
              .exemplars = o.exemplars,
              .settings = settings,
              .seed = seed_for(seed, subset),
              .threads = plan.threads,
              .alive = alive};
    task.report = [&](Index found) {
      if (!watch.tell([&](Progress& told) {
            told.stage = Progress::Stage::steps;
            told.exemplars = told.step = found;
          }))
        throw Interrupted{};
    };
    PreparedProblem prepared;
    if (takes_dissimilarities(settings)) {
      task.given = &view;
    } else {
      prepared = prepare_problem(view, subset, o, plan, alive);
      task.points = prepared.points.get();
      task.kernel = prepared.source.get();
      task.linear = prepared.points && prepared.type.type == KernelType::linear;
      result.gamma = prepared.gamma();
    }
    stop_unless(alive);
    result.seconds.setup = seconds_since(start);
    const auto choosing = Clock::now();
    Picks picks = method.choose(task);
    result.seconds.steps = seconds_since(choosing);
    const auto describing = Clock::now();
    watch.enter(Progress::Stage::certificate);
    describe_picks(task, std::move(picks), o, result);
    result.seconds.certificate = seconds_since(describing);
  } catch (const Interrupted&) {
    result.status = Status::interrupted;
    result.certificate.reset();
  }
  to_global_indices(subset, result);
  return result;
}

SelectOptions options_for(const MethodChoice& choice, const SelectOptions& options) {
  const Method& method = find_method(choice.name);
  return options_for(method, settings_of(method, choice.settings), options);
}

/// The method's name with its settings, ready to plan and to run.
Chooser chooser_for(const MethodChoice& choice) {
  const Method& method = find_method(choice.name);
  if (!method.choose) {
    settings_of(method, choice.settings);  // refuses all of them
    const auto named = [&method](const PlanFacts& facts, const SelectOptions& o) {
      Plan plan = make_plan(facts, o);
      plan.method = method.name;
      return plan;
    };
    return {.plan = named, .run = select_points};
  }
  const Settings settings = settings_of(method, choice.settings);
  return {.plan = [&method, settings](
                      const PlanFacts& facts,
                      const SelectOptions& o) { return plan_by(method, settings, facts, o); },
          .run =
              [&method, settings, seed = choice.seed](
                  const PointsView& view, std::span<const Index> subset, const SelectOptions& o,
                  const Plan& plan, const Observer& observer) {
                return choose_points(method, settings, seed, view, subset, o, plan, observer);
              }};
}

}  // namespace

bool draws_at_random(const Method& method, const Settings& settings) {
  if (!method.random || method.random_if.empty()) return method.random;
  const std::string_view condition = method.random_if;
  const std::size_t equals = condition.find('=');
  return has_word(settings, condition.substr(0, equals), condition.substr(equals + 1));
}

bool takes_dissimilarities(const Settings& settings) {
  return has_word(settings, "metric", "precomputed");
}

Index Task::size() const {
  if (kernel) return kernel->size();
  return subset.empty() ? rows_of(*given) : static_cast<Index>(subset.size());
}

Plan plan(const PointsView& points, const SelectOptions& options, const MethodChoice& choice) {
  const SelectOptions own = options_for(choice, options);
  if (const auto problem = find_problem(own, rows_of(points), cols_of(points)))
    throw Error(*problem);
  return chooser_for(choice).plan(facts_of(points, threads_of(own)), own);
}

std::string warning_of_long_run(const PointsView& points, const SelectOptions& options,
                                const MethodChoice& choice) {
  const Plan own = plan(points, options, choice);
  const SelectOptions as_run = options_for(choice, options);
  return warning_of_long_run(facts_of(points, threads_of(as_run)), as_run, own);
}

Selection select(const PointsView& points, const SelectOptions& options, const MethodChoice& choice,
                 const Observer& observer) {
  const SelectOptions own = options_for(choice, options);
  return chooser_for(choice).run(points, {}, own, plan(points, options, choice), observer);
}

std::vector<ClassPlan> plan_per_class(const PointsView& points,
                                      const std::vector<std::string>& labels,
                                      const ClassCounts& counts, const SelectOptions& options,
                                      const MethodChoice& choice) {
  return plan_per_class(points, labels, counts, options_for(choice, options), chooser_for(choice));
}

std::vector<ClassSelection> select_per_class(const PointsView& points,
                                             const std::vector<std::string>& labels,
                                             const ClassCounts& counts,
                                             const SelectOptions& options,
                                             const MethodChoice& choice, const Observer& observer) {
  return select_per_class(points, labels, counts, options_for(choice, options), chooser_for(choice),
                          observer);
}

}  // namespace fwsr
