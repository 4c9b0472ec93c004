// Where results go: checked before the work, written whole or not at all.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "apps/interrupt.hpp"

namespace fwsr::app {

/// An output file, and the option that named it.
struct Destination {
  std::string option;  // "--codes"
  std::string path;    // empty: the option was not given
};

/// Refuses, before any work, outputs that cannot come to be: no such folder, no right to write
/// there, the same file as an input or as another output. "-" is standard output, or input.
void check_destinations(const std::vector<Destination>& outputs,
                        const std::vector<std::string>& inputs);

/// Standard output ran into a closed pipe: the reader has what it wanted.
struct ClosedPipe {};

/// An interruption that left a part of the result in a pipe or on a terminal.
struct CutOff : Interrupted {
  explicit CutOff(std::string name) : where(std::move(name)) {}
  std::string where;
};

/// Something to write, and where: standard output when the path is empty or "-".
struct Output {
  std::string path;
  std::function<void(std::ostream&)> write;
};

/// Writes all outputs as one unit: every file is prepared whole beside its place, in this order; then
/// what goes to pipes is written; then the files are put in place, in this order, so that the main
/// result belongs last. Nothing is put in place before all the rest has succeeded. What goes to a
/// terminal is shown without its control characters.
/// @throws Error that says what was changed, Interrupted when no file was, ClosedPipe at the end
void write_results(const std::vector<Output>& outputs);

/// The same for one.
void write_result(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace fwsr::app
