// Several methods on the same data, judged by the same measures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fwsr/methods/methods.hpp"
#include "fwsr/methods/quality.hpp"

namespace fwsr {

/// What is compared when nobody names methods: the paper's, and its own.
inline constexpr const char* default_methods = "fwsr,k-fwsr,smrs,kmedoids,rrqr,random";

/// One method of a comparison, with the options it runs with.
struct Contestant {
  std::string name;  // for the table: "smrs:alpha=20"
  std::optional<Request> request;
  std::string refusal = {};  // without a request: why there is none
};

/// Whether an option of `describe` is one of a whole comparison: those that every method takes, but for the number of
/// exemplars, which stands by itself, and the certificate, in whose place are the measures.
bool is_compare_option(std::string_view name);

struct CompareOptions {
  Index repeats = 20;  // of methods that draw at random, with seeds from the request's on
  std::optional<double> time_limit = {};  // seconds for one run
  std::optional<ClassCounts> per_class = {};
};

/// One run of one method.
struct Trial {
  std::vector<Index> exemplars;  // class after class, where they are chosen per class
  Quality quality;
  double seconds = 0;  // from the data to the picks
  /// The most that was asked for at one time, in addition to the points; not the buffers of BLAS, which serve all
  /// methods. -1: not counted (base/allocations.hpp).
  Index peak_bytes = -1;
};

struct Comparison {
  enum class Outcome {
    done,
    too_large,  // its plan does not fit the memory
    too_slow,   // its plan, or the run itself, went beyond the time limit
    refused,    // the method cannot work on this data
  };
  std::string name;
  Outcome outcome = Outcome::done;
  std::string reason;  // of every other outcome
  double planned_seconds = 0;
  std::string device = "cpu";  // where it ran, or the card, as "cuda"
  std::vector<Trial> trials;   // one for each repeat
  std::vector<std::string> warnings = {};
};
const char* name_of(Comparison::Outcome v);

/// A measure of a trial by name, in the order of tables. Measures that were not taken are NaN.
struct Measure {
  enum class Unit { none, seconds, bytes };
  const char* name;
  const char* title;  // short, for a table
  const char* about;  // a sentence without a capital or a full stop
  bool less_is_better;
  Unit unit;
  double rounding;  // up to this it is 0 to rounding
  double (*of)(const Trial& trial);
};
const std::vector<Measure>& measures();

/// Mean and standard deviation of a measure over the trials (0 for one). NaN: none, or not taken.
struct Spread {
  double mean = 0, deviation = 0;
};
Spread spread_of(const Comparison& comparison, const Measure& measure);

/// What is told while the methods run, one after the other.
struct CompareProgress {
  std::size_t method = 0;
  Index trial = 0;
  Progress run;
};
/// Called from one thread at a time. Return false to stop everything: Interrupted is thrown.
using CompareObserver = std::function<bool(const CompareProgress&)>;

/// Runs every contestant on `points`, on a card where its options ask for one that serves it, else on the processor; one that works on dissimilarities is refused, as there are no points to
/// judge it by. `judged_by` says how the answers are measured (Judge); `labels` may be
/// empty unless exemplars are chosen per class.
std::vector<Comparison> compare(const PointsView& points, const Labels& labels,
                                const std::vector<Contestant>& contestants,
                                const SelectOptions& judged_by, const CompareOptions& options,
                                const CompareObserver& observer = {});

}  // namespace fwsr
