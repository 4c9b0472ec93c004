// The input changes while it is read: a mapped file that is cut off ends the program with a sentence
// instead of a signal, and an answer from a file that was written to is not given.
#pragma once

#include "fwsr/data/dataset.hpp"

namespace fwsr::app {

/// Takes over SIGBUS, which the system sends when a mapped page has no file behind it any more: a
/// message that names the file, exit code 1. Faults elsewhere end the program as before.
void install_fault_handler();

/// @throws Error when the points stand in a file that has changed since it was opened
void refuse_if_changed(const Dataset& data);

}  // namespace fwsr::app
