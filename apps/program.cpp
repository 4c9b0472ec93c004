// The program fwsr.
#include <unistd.h>

#include "apps/command.hpp"

int main(int argc, char** argv) {
  const int code = fwsr::app::run_guarded(argc, argv);
  // Who was interrupted does not wait until the libraries, of a card above all, have given back one by one what the system
  // takes back anyway. Everything was written.
  if (code > 128) ::_exit(code);
  return code;
}
