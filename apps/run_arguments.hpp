// The arguments that every command which runs the algorithm takes beside its data and its options.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "apps/data_arguments.hpp"
#include "apps/progress.hpp"
#include "fwsr/data/dataset.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/selection.hpp"

namespace CLI {
class App;
}

namespace fwsr::app {

struct RunArguments {
  std::string exemplars;  // -k as given
  bool per_class = false;
  bool dry_run = false;
  bool quiet = false;
  bool json = false;
  std::string output;
};

void add_exemplars_arguments(CLI::App& app, RunArguments& a);
void add_dry_run_and_quiet(CLI::App& app, RunArguments& a);
void add_seed_argument(CLI::App& app, std::uint64_t& seed);
/// `streams`: data that does not fit is read in blocks.
void add_memory_argument(CLI::App& app, SelectOptions& options, bool streams = true);

/// Reads -k into `options`, or checks it where it is per class. @throws UsageError
void check_exemplars(const RunArguments& a, SelectOptions& options);

/// Refuses options that no data could suit, before any is read.
void refuse_options_wrong_for_any_data(SelectOptions options);

/// The data, in memory where that and the work beside it fit (`plan` throws no MemoryError), else
/// streamed where it can be.
Dataset load_to_fit(const DataArguments& from, const SelectOptions& options,
                    const std::function<void(const Dataset&)>& plan);

/// Refuses to run per class on data without labels.
void require_labels(const Dataset& data);

/// Shows progress, stops the run after Ctrl-C, and throws Error when the file of `data` has changed.
Observer observer_for(ProgressBar& bar, const Dataset& data);

}  // namespace fwsr::app
