# Flags for our own code. Contraction of a*b+c is off and there is no -ffast-math and no
# -march=native, so that arithmetic is what the code says. Parallel loops stand in headers (base/blocks.hpp), so
# that all of our code is compiled with OpenMP; who uses the installed library is not asked to.
add_library(fwsr_flags INTERFACE)
target_link_libraries(fwsr_flags INTERFACE fwsr_hardening OpenMP::OpenMP_CXX)
target_compile_options(fwsr_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:
  -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion>)
if(FWSR_WERROR)
  target_compile_options(fwsr_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()
if(FWSR_SANITIZE)
  target_compile_options(fwsr_flags INTERFACE -fsanitize=${FWSR_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(fwsr_flags INTERFACE -fsanitize=${FWSR_SANITIZE})
endif()
