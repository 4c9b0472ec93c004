// What a method of choosing exemplars is: a name, its settings, what it costs, and one function.
//
// A method is one file of this folder: the problem it solves above the code, a function that chooses
// (from a Task of methods/task.hpp), and `Method NAME_method()`, which describes it. One line of
// methods/table.def makes it known to everybody.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// A number, a whole number, yes or no, or a word.
using Value = std::variant<double, Index, bool, std::string>;

/// One setting of a method. Its default says of which type it is.
struct Parameter {
  std::string name;
  Value value;        // when nobody gives one
  std::string about;  // a sentence without a capital or a full stop, for lists
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  std::vector<std::string> words = {};  // that a word may be
  bool or_zero = false;                 // 0 is allowed beside what lies between least and most
};

/// The settings of one run: every parameter of the method has its value here.
class Settings {
 public:
  Settings() = default;
  explicit Settings(std::map<std::string, Value, std::less<>> values)
      : values_(std::move(values)) {}
  double number(std::string_view name) const { return get<double>(name); }
  Index whole(std::string_view name) const { return get<Index>(name); }
  bool yes(std::string_view name) const { return get<bool>(name); }
  const std::string& word(std::string_view name) const { return get<std::string>(name); }
  const std::map<std::string, Value, std::less<>>& all() const { return values_; }

 private:
  template <class T>
  const T& get(std::string_view name) const {
    return std::get<T>(values_.find(name)->second);
  }
  std::map<std::string, Value, std::less<>> values_;
};

struct Task;   // what a method is given, and
struct Picks;  // what it answers: methods/task.hpp
struct PlanFacts;
struct SelectOptions;

/// What a plan is made from.
struct Sizes {
  double n = 0, d = 0, k = 0;
  double entries = 0;  // n d, or the non-zeros
  double number = 8;   // bytes of a stored number
  double threads = 1;
  bool linear = true;  // the kernel is the inner product of the points
  bool sparse = false;
  bool narrow =
      false;  // of one or two bytes each, though `number` is 4: what they are worked on as

  /// Stored numbers of a point.
  double row() const { return entries / std::max(1.0, n); }
  /// Operations of a matrix product that take as long as one inner product of two points: of sparse ones, those of
  /// their stored numbers, which are met one by one.
  double pair() const { return sparse ? 12 * row() : 2 * d; }

  /// How many threads work at once on blocks of so many points, and how many rows such a block has.
  double crew(double rows) const { return std::max(1.0, std::min(threads, std::ceil(n / rows))); }
  double held(double rows) const { return std::min(rows, std::ceil(n / 48) * 48); }
};

/// What a run takes, before it is begun.
struct Cost {
  double bytes = 0;  // beside the data, all threads together
  double flops = 0;  // as many operations of a matrix product as take the same time
  std::string how;   // one sentence: what is held, what a step costs
};

/// The options of a selection (SelectOptions, by the names of `describe`) that mean something to every method ...
inline constexpr const char* common_options[] = {
    "exemplars", "kernel", "gamma", "degree",        "coef0",  "center", "scale",
    "fill",      "refine", "ridge", "refine_rounds", "lambda", "rho",    "certificate"};

/// What else may be asked of a choice (solver/conditions.hpp); `represent` asks for candidates and weights.
enum class Condition {
  candidates,
  include,
  weights,
  cost,
  groups,
  budget,
  until_error,
  time_limit
};
constexpr auto values_of(Condition) {
  using enum Condition;
  return std::array{candidates, include, weights, cost, groups, budget, until_error, time_limit};
}
/// As people write it: "candidates", "until_error".
const char* name_of(Condition v);

struct Method {
  std::string name;   // as on the command line: "strong-rrqr"
  std::string title;  // "strong rank-revealing QR"
  std::string about;  // one sentence, with the article in brackets
  std::vector<Parameter> parameters = {};
  bool random = false;         // the answer depends on the seed ...
  std::string random_if = {};  // ... only with this setting, as in "first=random"; empty: always
  bool any_kernel = false;     // else only the inner product of the points
  bool uses_rbf = false;       // the kernel is rbf unless the user names one, or `suit` another
  bool factors = false;        // has the option rank: a factor of the kernel in place of the points
  bool codes = false;          // Picks::codes are there
  bool streams = false;        // reads the points in order, so that they may stay on disk
  bool all_options = false;    // ... and whether all others do, too
  std::vector<Condition> conditions = {};  // that it chooses under
  /// Fills in options that were left open: what holds for any points, when a request is made, ...
  void (*complete)(SelectOptions& options) = nullptr;
  /// ... and what depends on the points, when it is planned; null: nothing does.
  void (*suit)(const PlanFacts& facts, SelectOptions& options) = nullptr;
  /// For n points of d features. `how` and the numbers may depend on the settings.
  Cost (*cost)(const Sizes& sizes, const Settings& settings) = nullptr;
  /// Null: the Frank-Wolfe solver itself.
  Picks (*choose)(const Task& task) = nullptr;
};

/// Whether it is the Frank-Wolfe solver itself, by one of its names.
bool is_solver(const Method& method);
/// Whether it chooses under such a condition.
bool takes_condition(const Method& method, Condition condition);
/// Whether an option of `describe` means something to the method.
bool takes_option(const Method& method, std::string_view option);
/// Whether the answer depends on the seed.
bool draws_at_random(const Method& method, const Settings& settings);
/// Whether the data is a matrix of dissimilarities: the method has a `metric`, which is precomputed.
bool takes_dissimilarities(const Settings& settings);

}  // namespace fwsr
