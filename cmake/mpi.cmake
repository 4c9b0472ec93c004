# Whether fwsr-mpi is built, with the library behind it (fwsr/mpi): FWSR_WITH_MPI. The library fwsr and the program fwsr
# know nothing of MPI.
set(FWSR_WITH_MPI OFF)
set(wanted ${FWSR_MPI})
if(FWSR_MPI STREQUAL "auto")  # what MPI itself leaks, sanitizers would count as ours
  set(wanted OFF)
  if(FWSR_BUILD_APPS AND NOT FWSR_BUILD_PYTHON AND NOT FWSR_SANITIZE)
    set(wanted ON)
  endif()
endif()
if(wanted)
  set(MPI_CXX_SKIP_MPICXX TRUE)  # the interface of C, and nothing else
  if(FWSR_MPI STREQUAL "auto")
    find_package(MPI 3.0 QUIET COMPONENTS CXX)
  else()
    find_package(MPI 3.0 REQUIRED COMPONENTS CXX)
  endif()
  set(FWSR_WITH_MPI ${MPI_CXX_FOUND})
endif()
message(STATUS "Many machines by MPI: ${FWSR_WITH_MPI}")
