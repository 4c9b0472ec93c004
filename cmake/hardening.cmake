# What a compiler and a linker can do against an error of ours becoming somebody's way in. Programs and
# modules are looked at by tests/safety/hardening_test.py after they are linked.
include(CheckCXXCompilerFlag)
include(CheckLinkerFlag)

add_library(fwsr_hardening INTERFACE)
foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full)
  string(MAKE_C_IDENTIFIER "FWSR_HAS${flag}" has)
  check_cxx_compiler_flag(${flag} ${has})
  if(${has})
    target_compile_options(fwsr_hardening INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${flag}>)
  endif()
endforeach()
foreach(flag relro now noexecstack)
  check_linker_flag(CXX -Wl,-z,${flag} FWSR_LINKER_HAS_${flag})
  if(FWSR_LINKER_HAS_${flag})
    target_link_options(fwsr_hardening INTERFACE -Wl,-z,${flag})
  endif()
endforeach()
# Checked copies need the optimiser; sanitizers look at the same places themselves.
if(NOT FWSR_SANITIZE)
  target_compile_options(fwsr_hardening INTERFACE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>)
endif()

# CMake leaves room at the end of a run path for the one that `cmake --install` writes over it. That room is
# an empty entry, which the loader takes for the current folder. Built and installed files have the same
# run path instead: none, or for a shared library the way from bin to it.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
if(BUILD_SHARED_LIBS)
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
  set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
endif()
