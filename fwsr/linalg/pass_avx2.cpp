#if defined(__x86_64__)

#include "fwsr/linalg/pass_loops.hpp"

namespace fwsr {

const PassLoops pass_avx2 = loops;

}  // namespace fwsr

#endif
