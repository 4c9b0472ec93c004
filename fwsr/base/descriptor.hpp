// An open file of the system that is closed when it goes out of scope. Internal.
#pragma once

#include <unistd.h>

#include <utility>

namespace fwsr {

struct Descriptor {
  int fd = -1;  // -1: none
  explicit Descriptor(int file) : fd(file) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  int release() { return std::exchange(fd, -1); }
};

}  // namespace fwsr
