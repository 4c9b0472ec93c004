// The arguments that every command which runs the algorithm takes beside its data and its options.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "apps/class_counts.hpp"
#include "apps/command.hpp"
#include "apps/data_arguments.hpp"
#include "apps/progress.hpp"
#include "fwsr/data/dataset.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/select.hpp"
#include "fwsr/solver/selection.hpp"

namespace CLI {
class App;
}

namespace fwsr::app {

struct RunArguments {
  std::string exemplars;  // -k as given
  bool per_class = false;
  ExemplarCount count = {};  // what they mean, after check_exemplars
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

void add_device_arguments(CLI::App& app, SelectOptions& options);
/// @throws UsageError
void check_device_arguments(const CLI::App& app, const SelectOptions& options);

/// Reads -k, here and nowhere else, into `a.count` and, of all points, `options`. @throws UsageError
void check_exemplars(RunArguments& a, SelectOptions& options);

/// Refuses options that no data could suit, before any is read.
void refuse_options_wrong_for_any_data(SelectOptions options);

/// The data, in memory where that and the work beside it fit (`plan` throws no MemoryError), else
/// streamed where it can be.
Dataset load_to_fit(const DataArguments& from, const SelectOptions& options,
                    const std::function<void(const Dataset&)>& plan);

/// Where exemplars are per class: how many of each. Refuses data without labels, and more than there are.
std::vector<Index> check_classes(const RunArguments& a, const Dataset& data);

/// Runs work(); options that turn out not to suit the data are wrong use, and messages say where the data stands.
template <class Work>
void on_data(const Dataset& data, Work&& work) {
  try {
    work();
  } catch (const OtherFileError&) {
    throw;
  } catch (const OptionError& e) {
    throw UsageError(located(data, e.what()));
  } catch (const Error& e) {
    throw Error(located(data, e.what()));
  }
}

/// Shows progress, stops the run after Ctrl-C, and throws Error when the file of `data` has changed.
Observer observer_for(ProgressBar& bar, const Dataset& data);

}  // namespace fwsr::app
