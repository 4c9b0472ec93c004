// Where results go: checked before the work, written whole or not at all.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace fwsr::app {

/// An output file, and the option that named it.
struct Destination {
  std::string option;  // "--codes"
  std::string path;    // empty: the option was not given
};

/// Refuses, before any work, outputs that cannot come to be: no such folder, no right to write
/// there, the same file as an input or as another output.
void check_destinations(const std::vector<Destination>& outputs,
                        const std::vector<std::string>& inputs);

/// Standard output ran into a closed pipe: the reader has what it wanted.
struct ClosedPipe {};

/// Writes to `path`, whole or not at all; to standard output when it is empty or "-".
/// @throws Error when that fails, ClosedPipe when nobody reads standard output any more
void write_result(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace fwsr::app
