// Files that others may change while we read them: how to tell, and which file a fault belongs to.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <optional>
#include <string>

namespace fwsr {

/// A file as it was when it was opened: how long, and when last written to.
class FileWatch {
 public:
  /// Takes `descriptor` over. `about` is what fstat said when the file was opened, before a byte of it
  /// was read. `name` begins the sentence.
  FileWatch(int descriptor, const struct stat& about, std::string name);
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;
  ~FileWatch();

  /// A sentence when the file has been written to or cut off since. A file that took its name is
  /// another one: what was opened is still there, whole. May be called from many threads.
  std::optional<std::string> find_change() const;

 private:
  int descriptor_;
  struct stat about_;
  std::string name_;
};

/// Announces bytes of a mapped file, so that mapped_file_at can tell them; `name` stays the caller's
/// until forget_mapping. Returns the place to forget; -1 when more are mapped than anybody maps.
int announce_mapping(const void* start, std::size_t length, const char* name);
void forget_mapping(int place);
/// The name of the mapped file that `address` lies in, or null. For signal handlers: takes no lock.
const char* mapped_file_at(const void* address);

}  // namespace fwsr
