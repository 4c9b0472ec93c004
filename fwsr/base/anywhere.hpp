// For small functions that run on the processor and on cards alike.
#pragma once

#ifdef __CUDACC__
#define FWSR_ANYWHERE __host__ __device__
#else
#define FWSR_ANYWHERE
#endif
