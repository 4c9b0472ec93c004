// Signals that ask the program to end: Ctrl-C, SIGTERM, SIGHUP, SIGQUIT. Until something is under way
// that must be ended with care, they end the program at once; afterwards they raise a flag that the
// observer of a selection and the writers of files read. One that comes more than a second later
// kills: those before it may have been the same request, sent to the process and to its group.
#pragma once

#include "fwsr/base/result.hpp"

namespace fwsr::app {

using fwsr::Interrupted;  // thrown to unwind, so that half-written files are removed

/// Takes over the signals (unless the program was started with them ignored), and lets a closed pipe
/// and a limit of file sizes show themselves as failed writes instead of signals.
void install_signal_handlers();

/// From here on an interruption only raises the flag.
void interrupt_with_care();

bool interrupted();
/// @throws Interrupted when the flag is up
void stop_if_interrupted();
/// 128 and the number of the signal: 130 for Ctrl-C, 143 for SIGTERM.
int interrupt_exit_code();

}  // namespace fwsr::app
