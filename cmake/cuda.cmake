# Whether work on NVIDIA cards is built in (fwsr/cuda): FWSR_WITH_CUDA. No card is needed for that, nor is one looked for;
# cuBLAS is loaded when it is first used.
set(FWSR_WITH_CUDA OFF)
if(FWSR_CUDA STREQUAL "auto")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER AND NOT FWSR_SANITIZE)
    set(FWSR_WITH_CUDA ON)
  endif()
elseif(FWSR_CUDA)
  set(FWSR_WITH_CUDA ON)
endif()
if(FWSR_WITH_CUDA)
  enable_language(CUDA)
  find_package(CUDAToolkit 12.0 REQUIRED)
  foreach(kind STANDARD EXTENSION)  # CMake 3.25 does not know how nvcc is told to speak C++20
    if(NOT CMAKE_CUDA20_${kind}_COMPILE_OPTION)
      set(CMAKE_CUDA20_${kind}_COMPILE_OPTION -std=c++20)
    endif()
  endforeach()
  # Arithmetic is what the code says, on cards as elsewhere: a fused multiply-add is written as one.
  set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -fmad=false --expt-relaxed-constexpr --extended-lambda")
endif()
message(STATUS "Work on NVIDIA cards: ${FWSR_WITH_CUDA}")
