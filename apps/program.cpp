// The program fwsr.
#include "apps/command.hpp"

int main(int argc, char** argv) {
  return fwsr::app::run_guarded(argc, argv);
}
