// What every command shares: how wrong use is told, how arguments are read, how help looks.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "fwsr/base/result.hpp"

namespace CLI {
class App;
}

namespace fwsr::app {

/// An Error about another file than the data, which it names.
struct OtherFileError : Error {
  using Error::Error;
};

/// Wrong use of the command line: exit code 2. Everything else that fails is exit code 1.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The value, or its failure thrown as an Error.
template <class T>
T must(Result<T> result) {
  if (!result) throw Error(result.error().message);
  return std::move(result).value();
}

/// Gives `app` our help page; call before adding options.
void prepare(CLI::App& app);

/// Reads the arguments into `app`. False when help was asked for and printed: nothing is left to
/// do.
/// @throws UsageError with the nearest name when an argument is not known
bool parse(CLI::App& app, int argc, const char* const* argv);

/// Refuses two options that mean one thing. Names as on the command line: "--eta".
void refuse_both(const CLI::App& app, const std::string& one, const std::string& other,
                 const std::string& advice);

// The commands. argv[0] is the name of the command; each returns the exit code.
int run_select(int argc, const char* const* argv);
int run_update(int argc, const char* const* argv);
int run_sweep(int argc, const char* const* argv);
int run_compare(int argc, const char* const* argv);
int run_methods(int argc, const char* const* argv);
int run_inspect(int argc, const char* const* argv);
int run_generate(int argc, const char* const* argv);

/// The program: one message and an exit code, whatever happens.
int run_guarded(int argc, const char* const* argv);

/// Version and the parts of this build, one a line.
std::string version_text();
/// As in FWSR_VERSION: three numbers and the points between them.
std::string version_number();

}  // namespace fwsr::app
