// The answer of `fwsr compare` as table, CSV and JSON.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "apps/class_counts.hpp"
#include "apps/result_json.hpp"
#include "apps/writers.hpp"
#include "fwsr/data/dataset.hpp"
#include "fwsr/methods/compare.hpp"

namespace fwsr::app {

struct CompareResult {
  const Dataset& data;
  const SelectOptions& options;
  ExemplarCount count;  // -k
  bool per_class = false;
  CompareOptions compare;
  const std::vector<Contestant>& contestants;
  std::vector<Comparison> rows;
  int threads = 1;
};

/// One line per method; the measures that nobody could take are left out.
std::string compare_table(const CompareResult& result);

/// To a file. CSV: method,outcome,exemplars,runs, then mean and standard deviation of every measure, then the picks of
/// the first run. JSON: everything, every run of every method.
const Writers<CompareResult>& compare_writers();

/// Which methods were not run and why, and what the others warned of.
std::string compare_notes(const CompareResult& result, bool colour);

}  // namespace fwsr::app
