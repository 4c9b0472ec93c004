# Flags for our own code. Contraction of a*b+c is off and there is no -ffast-math and no
# -march=native, so that arithmetic is what the code says.
add_library(fwsr_flags INTERFACE)
target_link_libraries(fwsr_flags INTERFACE fwsr_hardening)
target_compile_options(fwsr_flags INTERFACE
  -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion)
if(FWSR_WERROR)
  target_compile_options(fwsr_flags INTERFACE -Werror)
endif()
if(FWSR_SANITIZE)
  target_compile_options(fwsr_flags INTERFACE -fsanitize=${FWSR_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(fwsr_flags INTERFACE -fsanitize=${FWSR_SANITIZE})
endif()
