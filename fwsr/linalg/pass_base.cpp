#include "fwsr/linalg/pass_loops.hpp"

namespace fwsr {

const PassLoops pass_base = loops;

}  // namespace fwsr
