#if defined(__x86_64__)

#include "fwsr/linalg/byte_add.hpp"
#include "fwsr/linalg/byte_loops.hpp"

namespace fwsr {

const ByteLoops byte_avx2{.sums = sums_body, .products = products_body, .add = add_body};

}  // namespace fwsr

#endif
