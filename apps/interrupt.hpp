// Signals that ask the program to end: Ctrl-C, SIGTERM, SIGHUP, SIGQUIT. Until something is under way
// that must be ended with care, they end the program at once; afterwards they raise a flag that the
// observer of a selection and the writers of files read. One that comes more than a second later
// kills: those before it may have been the same request, sent to the process and to its group. Ctrl-C
// while exemplars are exchanged ends the exchanges only.
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
/// Whether it was Ctrl-C: a person who waits, not a system that is about to kill.
bool interrupted_at_the_keyboard();
/// What the run found so far is kept: the flag comes down, so that it is written. A signal more than a second after the
/// first still kills.
void finish_after_interruption();
/// @throws Interrupted when the flag is up
void stop_if_interrupted();
/// 128 and the number of the signal: 130 for Ctrl-C, 143 for SIGTERM.
int interrupt_exit_code();

}  // namespace fwsr::app
