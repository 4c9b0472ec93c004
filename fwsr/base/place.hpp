// Where a path leads, seen before anything is written there.
#pragma once

#include <string>

#include "fwsr/base/result.hpp"

namespace fwsr {

/// A file among all files of this machine: its device and its number there.
struct FileIdentity {
  bool known = false;  // false: no regular file
  unsigned long long device = 0, number = 0;
  friend bool operator==(const FileIdentity& a, const FileIdentity& b) {
    return a.known && b.known && a.device == b.device && a.number == b.number;
  }
};

/// Of the regular file behind an open descriptor, or at the end of a path.
FileIdentity identity_of(int descriptor);
FileIdentity identity_of(const std::string& path);

/// The end of a path, links followed: a file by its folder and its name, something that is written
/// as it stands (a pipe, a device), or a descriptor that this process has open (/dev/stdout).
struct Place {
  enum class Kind { file, device, descriptor };
  Kind kind = Kind::file;
  std::string path;          // as the user gave it
  std::string folder, name;  // of a file
  int descriptor = -1;
  bool exists = false;  // as a regular file, where it is a file
  FileIdentity identity;
};

/// Follows `path`. Fails with the reason, the name of the path in front, when nothing can be written
/// there: a folder, no such folder, no right to write, a name that is too long.
Result<Place> find_place(const std::string& path);

/// Standard output, which needs no path.
Place standard_output();

/// Both lead to the same regular file, which may not exist yet.
bool same_file(const Place& a, const Place& b);

}  // namespace fwsr
