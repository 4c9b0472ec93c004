// The programs fwsr and fwsr-mpi: find the command, and turn what went wrong into one message and an exit code.
//   0 done   1 the work failed (file, memory, data)   2 wrong use   128 + n ended by signal n, as 130 by Ctrl-C,
//   with the best so far written where that came while exemplars were exchanged
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "apps/checkpoint.hpp"
#include "apps/command.hpp"
#include "apps/destination.hpp"
#include "apps/file_fault.hpp"
#include "apps/interrupt.hpp"
#include "apps/machines.hpp"
#include "apps/summary.hpp"
#include "apps/text.hpp"
#include "fwsr/base/write_file.hpp"
#include "fwsr/linalg/processor.hpp"

namespace fwsr::app {

Machines*& machines() {
  static Machines* all = nullptr;
  return all;
}

namespace {

struct Command {
  const char* name;
  int (*run)(int argc, const char* const* argv);
  const char* help;
  bool shared = false;  // fwsr-mpi has it
};

constexpr Command commands[] = {
    {"select", run_select, "choose the k points that represent a data set", true},
    {"update", run_update, "choose more for new data beside what an earlier select chose"},
    {"sweep", run_sweep, "the same for many settings of alpha and eta at once, side by side", true},
    {"compare", run_compare, "several methods side by side: quality, time and memory"},
    {"methods", run_methods, "the methods there are, and their settings"},
    {"inspect", run_inspect, "look at a data set: shape, ranges, duplicates, what select would do"},
    {"generate", run_generate, "make a synthetic data set"},
};

/// Whether this program has it: fwsr, or fwsr-mpi.
bool is_here(const Command& command) {
  return command.shared || !machines();
}

std::string help_text() {
  const bool alone = !machines();
  std::string text = fmt::format(
      "{} chooses the k points that represent a data set, by the Frank-Wolfe algorithm, and\n"
      "says how good the choice is.\n\n"
      "usage: {} COMMAND ... | --help | --version\n\nCommands:\n",
      alone ? "fwsr" : "fwsr-mpi", alone ? "fwsr" : "mpirun -n RANKS fwsr-mpi");
  for (const Command& command : commands)
    if (is_here(command)) text += fmt::format("  {:<12}{}\n", command.name, command.help);
  if (!alone)
    return text +
           "\nExamples:\n"
           "  mpirun -n 8 fwsr-mpi select 'part-*.npy' -k 100 -o picks.csv\n\n"
           "fwsr-mpi COMMAND --help says more; all other commands are those of fwsr. Exit code: 0 "
           "done, 1 the\nwork failed, 2 wrong use.\n";
  return text +
         "\nExamples:\n"
         "  fwsr select digits -k 20\n"
         "  fwsr inspect embeddings.npy\n\n"
         "fwsr COMMAND --help says more. Exit code: 0 done, 1 the work failed, 2 wrong use.\n";
}

std::string command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands)
    if (is_here(command)) names.push_back(command.name);
  return listed(names);
}

/// Said before any work is done, not in the middle of it.
void check_environment() {
  const Result<Instructions>& level = chosen_instructions();
  if (!level) throw UsageError(level.error().message);
}

int run(int argc, const char* const* argv) {
  if (argc < 2)
    throw UsageError(fmt::format("no command: write one of {}; see {} --help", command_names(),
                                 machines() ? "fwsr-mpi" : "fwsr"));
  const std::string word = argv[1];
  const bool help = word == "--help" || word == "-h", version = word == "--version";
  if ((help || version) && argc > 2)
    throw UsageError(
        fmt::format("{} is one argument too many; write {} alone", in_quotes(argv[2]), word));
  if (!help) check_environment();
  if (help || version) {
    write_result("", [&](std::ostream& out) { out << (help ? help_text() : version_text()); });
    return 0;
  }
  for (const Command& command : commands)
    if (word == command.name) {
      if (!is_here(command))
        throw UsageError(fmt::format(
            "fwsr-mpi shares the work of select and sweep alone; write fwsr {} ...", word));
      return command.run(argc - 1, argv + 1);
    }
  std::vector<std::string> names = {"--help", "--version"};
  for (const Command& command : commands)
    if (is_here(command)) names.push_back(command.name);
  const auto near = nearest(word, names);
  throw UsageError(fmt::format(
      "unknown {} {}; {}", word.starts_with("-") ? "option" : "command", in_quotes(word),
      near ? fmt::format("did you mean {}?", *near)
           : fmt::format("the commands are {}, see {} --help", command_names(),
                         machines() ? "fwsr-mpi" : "fwsr")));
}

/// A message in place of one that needs memory to be made.
int fail_without_memory(std::string_view message =
                            "fwsr: out of memory; use fewer points, a smaller --memory where "
                            "there is one, or a larger machine\n") {
  [[maybe_unused]] const ssize_t put = ::write(STDERR_FILENO, message.data(), message.size());
  return 1;
}

/// One message, one line, whatever stands in it.
int fail(int exit_code, std::string_view message) {
  try {
    write_stderr(fmt::format("fwsr: {}\n", shown_briefly(message)));
  } catch (const std::bad_alloc&) {
    return fail_without_memory();
  }
  return exit_code;
}

/// Where no exception may leave (libraries that promise so and allocate all the same), running out of
/// memory ends the program at once.
[[noreturn]] void end_for_want_of_memory() {
  remove_all_parts();
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    ::_exit(fail_without_memory());
  } catch (...) {
  }
  std::abort();
}

/// Before other objects of the program are made, some of which allocate.
[[gnu::constructor(101)]] void prepare_for_want_of_memory() {
  std::set_terminate(end_for_want_of_memory);
}

}  // namespace

int run_guarded(int argc, const char* const* argv) {
  try {
    install_signal_handlers();
    install_fault_handler();
    return run(argc, argv);
  } catch (const UsageError& e) {
    return fail(2, e.what());
  } catch (const CutOff& e) {
    return fail(
        interrupt_exit_code(),
        fmt::format("interrupted; {} has a part of the result, no file was changed", e.where));
  } catch (const Kept& e) {
    return fail(
        interrupt_exit_code(),
        fmt::format("interrupted; {} has what was done so far: add --resume to go on", e.where));
  } catch (const Interrupted&) {
    return fail(interrupt_exit_code(), "interrupted; no file was changed");
  } catch (const ClosedPipe&) {
    return 0;
  } catch (const std::bad_alloc&) {
    return fail_without_memory();
  } catch (const std::exception& e) {
    return fail(1, e.what());
  }
}

}  // namespace fwsr::app
