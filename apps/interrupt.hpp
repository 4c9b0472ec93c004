// Ctrl-C and SIGTERM. Until something is under way that must be ended with care, they end the
// program at once; afterwards they raise a flag that the observer of a selection reads. A second
// one always kills.
#pragma once

namespace fwsr::app {

/// Thrown to unwind after an interruption, so that half-written files are removed.
struct Interrupted {};

/// Takes over SIGINT and SIGTERM (unless the program was started with them ignored), and lets a
/// closed pipe show itself as a failed write instead of a signal.
void install_signal_handlers();

/// From here on an interruption only raises the flag.
void interrupt_with_care();

bool interrupted();
/// @throws Interrupted when the flag is up
void stop_if_interrupted();
/// 130 for Ctrl-C, 143 for SIGTERM.
int interrupt_exit_code();

}  // namespace fwsr::app
