// How long work is told to go on.
#pragma once

#include <functional>

namespace fwsr {

/// Asked now and then during long work, from any thread; when it says no, Interrupted is thrown.
using KeepGoing = std::function<bool()>;

}  // namespace fwsr
