// Files out, whole or not at all.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "fwsr/base/keep_going.hpp"
#include "fwsr/base/place.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

/// A file could not be written; what was there before is still there.
struct WriteError : Error {
  WriteError(const std::string& message, int why) : Error(message), code(why) {}
  int code;  // as in errno
};

/// A file on its way. Created, it is a hidden file in the folder of its place (`.NAME.RANDOM.part`),
/// which commit() puts there; one that is not committed is removed, whatever ended the work. A part
/// is locked while it is written, so that those of processes that were killed can be told from
/// others: whoever writes the same place next removes them.
///
/// Pipes, devices and descriptors are written directly, and cannot be taken back.
///
/// `keep_going` is asked while bytes are written, also while nobody takes them; Interrupted is thrown
/// when it says no. Every failure throws WriteError, out of stream() too.
class OutputFile {
 public:
  explicit OutputFile(const Place& place, KeepGoing keep_going = {});
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  std::ostream& stream();
  /// Has all that was written reach the disk. Nothing may be written afterwards.
  void finish();
  /// Puts the file in its place, with the mode and, where permitted, the owner of the one before.
  void commit();

  /// It is written as it goes, and something has been.
  bool has_begun() const;
  bool is_terminal() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Writes `path` whole or not at all; on failure what was there before stays.
Result<Done> write_whole(const std::string& path, const std::function<void(std::ostream&)>& write);

/// Removes the parts of all files on their way. For who ends the process at once (a signal that is not to be
/// survived, std::terminate), where no destructor runs; takes no lock and no memory.
void remove_all_parts();

/// Writes `bytes` to a pipe, terminal or file; false, with errno, when that fails. Never waits
/// without asking `keep_going`: throws Interrupted.
/// `begun` is set once some were taken.
bool write_bytes(int descriptor, std::string_view bytes, const KeepGoing& keep_going,
                 bool* begun = nullptr);

}  // namespace fwsr
