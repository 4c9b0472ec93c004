// How fast this processor is, for estimates of time: measured when somebody asks, in a few milliseconds, once.
#pragma once

namespace fwsr {

/// Of one thread, in a second.
struct Rates {
  double products = 0;         // operations of matrix products in double
  double single_products = 0;  // in float32
  double loops = 0;            // operations of loops over vectors in the cache
  double bytes = 0;            // read from memory
  double fresh_bytes = 0;      // written to memory that the system has yet to hand out
};

/// From any thread.
const Rates& rates();

}  // namespace fwsr
