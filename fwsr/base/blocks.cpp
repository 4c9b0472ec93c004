#include "fwsr/base/blocks.hpp"

#include <omp.h>

namespace fwsr {

int this_thread() {
  return omp_get_thread_num();
}

int default_threads() {
  return std::max(1, std::min(omp_get_max_threads(), omp_get_num_procs()));
}

}  // namespace fwsr
