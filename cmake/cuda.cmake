# Whether work on NVIDIA cards is built in (fwsr/cuda): FWSR_WITH_CUDA. No card is needed for that, nor is one looked for;
# cuBLAS is loaded when it is first used. Not unless asked for: NVIDIA's runtime takes memory before `main`, and a program
# it is linked into crashes, instead of saying so, where there is none.
#
# FWSR_CUDA_FOUND: there is a compiler for it. Tests then compile the folder all the same.
set(FWSR_WITH_CUDA OFF)
set(FWSR_CUDA_FOUND OFF)
if(FWSR_CUDA STREQUAL "auto" OR FWSR_CUDA OR (FWSR_BUILD_TESTS AND NOT FWSR_SANITIZE))
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    find_package(CUDAToolkit 12.0 QUIET)  # an older one is as good as none
    set(FWSR_CUDA_FOUND ${CUDAToolkit_FOUND})
  endif()
endif()
if((FWSR_CUDA STREQUAL "auto" AND FWSR_CUDA_FOUND) OR (FWSR_CUDA AND NOT FWSR_CUDA STREQUAL "auto"))
  set(FWSR_WITH_CUDA ON)
endif()
if(FWSR_WITH_CUDA OR FWSR_CUDA_FOUND)
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
