#include "apps/run_arguments.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/command.hpp"
#include "apps/file_fault.hpp"
#include "apps/interrupt.hpp"
#include "apps/machines.hpp"
#include "apps/option_list.hpp"
#include "fwsr/base/memory.hpp"

namespace fwsr::app {

void add_exemplars_arguments(CLI::App& app, RunArguments& a) {
  app.add_option(
         "-k,--exemplars", a.exemplars,
         "how many points to choose; with --per-class of each class, or proportional:N for N "
         "in all, or cat=3,dog=5")
      ->type_name("N")
      ->group("What to choose");
  app.add_flag("--per-class", a.per_class, "choose within each class by itself; needs labels")
      ->group("What to choose");
}

void add_dry_run_and_quiet(CLI::App& app, RunArguments& a) {
  app.add_flag("--dry-run", a.dry_run, "say what would be done and what it takes, and stop")
      ->group("Output");
  app.add_flag("--quiet", a.quiet,
               "no progress bar and no summary; warnings and errors are still printed")
      ->group("Output");
}

void add_seed_argument(CLI::App& app, std::uint64_t& seed) {
  app.add_option_function<std::string>(
         "--seed",
         [&seed](const std::string& text) {
           Index value = 0;
           read_value("--seed", text, value);
           if (value < 0) throw UsageError("--seed must be 0 or a positive whole number");
           seed = static_cast<std::uint64_t>(value);
         },
         "of methods that draw at random: the same seed gives the same answer everywhere "
         "(default 0)")
      ->type_name("N")
      ->group("What to choose");
}

void add_memory_argument(CLI::App& app, SelectOptions& options, bool streams) {
  app.add_option_function<std::string>(
         "--memory",
         [&options](const std::string& text) {
           const auto bytes = parse_bytes(text);
           if (!bytes) throw UsageError("--memory: " + bytes.error().message);
           options.memory = *bytes;
         },
         std::string("memory it may take, the data included, as 4G (default: the data and 80 % of "
                     "what is free)") +
             (streams ? "; npy and idx files that do not fit are streamed in blocks" : ""))
      ->type_name("SIZE")
      ->group("The machine");
}

void add_device_arguments(CLI::App& app, SelectOptions& options) {
  app.add_option_function<std::string>(
         "--device",
         [&options](const std::string& text) {
           const auto device = device_named(text);
           if (!device) throw UsageError("--device: " + device.error().message);
           options.device = *device;
         },
         "where to work: cpu, cuda (a card; cuda:1 is the second), or auto: a card where there is "
         "one and it pays (default cpu)")
      ->type_name("NAME")
      ->group("The machine");
  app.add_option_function<std::string>(
         "--device-memory",
         [&options](const std::string& text) {
           const auto bytes = parse_bytes(text);
           if (!bytes) throw UsageError("--device-memory: " + bytes.error().message);
           options.device_memory = *bytes;
         },
         "memory it may take of the card, as 8G (default: all that is free)")
      ->type_name("SIZE")
      ->group("The machine");
}

void check_device_arguments(const CLI::App& app, const SelectOptions& options) {
  if (app.count("--device-memory") > 0 && options.device.kind == DeviceChoice::Kind::cpu)
    throw UsageError("--device-memory is of a card; add --device cuda, or leave it out");
}

void check_exemplars(RunArguments& a, SelectOptions& options) {
  if (a.exemplars.empty() && options.budget && !a.per_class) return;  // as many as it pays for
  if (a.exemplars.empty())
    throw UsageError("-k/--exemplars is missing: say how many points to choose, as in -k 50");
  a.count = parse_exemplars(a.exemplars, a.per_class);
  options.exemplars = a.count.number;
}

void refuse_options_wrong_for_any_data(SelectOptions options) {
  options.exemplars = std::max<Index>(options.exemplars, 1);
  if (options.budget.value_or(0) > 0)
    options.budget.reset();  // what it pays for, the costs will tell
  if (const auto problem = find_problem(options, options.exemplars, options.exemplars))
    throw UsageError(*problem);
}

Dataset load_to_fit(const DataArguments& from, const SelectOptions& options,
                    const std::function<void(const Dataset&)>& plan) {
  const auto lacks_memory = [&](const Dataset& data) {
    try {
      plan(data);
    } catch (const MemoryError&) {
      return true;
    } catch (const Error&) {  // told when the plan is made in earnest
    }
    return false;
  };
  DataArguments how = from;
  how.read.budget = MemoryBudget(options.memory);
  if (Machines* const all = machines()) return all->load(how, options.memory);
  how.read.hold_at_most = options.memory > 0 ? options.memory : available_memory() / 10 * 8;
  {
    Dataset data = load(how);
    const bool stream = data.can_be_streamed && !is_streamed(data.view()) &&
                        options.kernel.type != KernelType::precomputed && lacks_memory(data);
    if (!stream) return data;
  }
  how.read.hold_at_most = 0;
  return load(how);
}

std::vector<Index> check_classes(const RunArguments& a, const Dataset& data) {
  if (!a.count.per_class) return {};
  if (data.labels.empty())
    throw UsageError(
        fmt::format("--per-class needs labels, and {} has none; give --labels FILE "
                    "or --label-column NAME",
                    data.name));
  return wanted_per_class(*a.count.per_class, count_labels(data.labels));
}

Observer observer_for(ProgressBar& bar, const Dataset& data) {
  return [&bar, &data](const Progress& progress) {
    bar.show(progress);
    refuse_if_changed(data);
    return !interrupted();
  };
}

}  // namespace fwsr::app
