// Code for an instruction set that the compiler does not take for granted. Elsewhere than on x86 nobody asks for these
// (processor.hpp), and they are as good as any other.
#pragma once

#if defined(__x86_64__)
#define FWSR_TARGET(set) gnu::target(set)
#else
#define FWSR_TARGET(set) maybe_unused
#endif
