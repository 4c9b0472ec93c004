#include <string>

#include <fmt/format.h>

#include "apps/command.hpp"
#include "apps/text.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/data/read.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/matrix_unit.hpp"
#include "fwsr/linalg/processor.hpp"
#include "fwsr/solver/device.hpp"
#include "fwsr/version.hpp"

namespace fwsr::app {

namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

std::string processor() {
  const Instructions used = instructions(), there = available_instructions();
  if (used == there) return name_of(used);
  return fmt::format("{} (by FWSR_CPU; {} is there)", name_of(used), name_of(there));
}

}  // namespace

std::string version_number() {
  return FWSR_VERSION;
}

namespace {

std::string cards() {
  const Cards found = find_cards();
  return found.names.empty() ? "none: " + found.why_none : listed(found.names);
}

}  // namespace

namespace {

std::string ranks() {
#ifdef FWSR_MPI
  return "fwsr-mpi, of MPI " FWSR_MPI;
#else
  return "none: built without (-D FWSR_MPI=ON)";
#endif
}

}  // namespace

std::string version_text() {
  return fmt::format(
      "fwsr {}\n"
      "compiler  {}\n"
      "blas      {}\n"
      "processor {}\n"
      "products  float32 {}\n"
      "formats   {}\n"
      "threads   {} (OpenMP)\n"
      "cards     {}\n"
      "mpi       {}\n",
      version_number(), compiler(), blas_name(), processor(),
      has_matrix_unit() ? "on the matrix unit (AMX)" : "by BLAS", listed(readable_formats()),
      default_threads(), cards(), ranks());
}

}  // namespace fwsr::app
