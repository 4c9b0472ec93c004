# Everything the build needs from outside, in one place. scripts/setup installs it.
find_package(OpenMP 4.5 REQUIRED COMPONENTS CXX)
find_package(ZLIB 1.2 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(openblas REQUIRED IMPORTED_TARGET openblas>=0.3.20)
# Inflates what is wanted whole more than twice as fast as zlib, which does it where this is not there.
pkg_check_modules(deflate IMPORTED_TARGET libdeflate>=1.10)

if(FWSR_BUILD_APPS)
  find_package(CLI11 2.1 REQUIRED)
  find_package(nlohmann_json 3.11 REQUIRED)
endif()
