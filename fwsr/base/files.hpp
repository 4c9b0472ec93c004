// The bytes of files.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/base/memory_budget.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

class FileWatch;
class GrowingBytes;

/// A regular file, read wherever one likes into memory of one's own; the file itself takes none.
/// May be called from many threads.
class FileReader {
 public:
  /// Takes `descriptor` over. `name` begins every message.
  FileReader(int descriptor, std::string name);
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;
  ~FileReader();

  /// Fills `out` with the bytes from `offset` on, and has the system fetch those behind them.
  /// Throws Error when they cannot be had (any more).
  void read(Index offset, std::span<std::byte> out) const;
  const std::string& name() const { return name_; }

 private:
  int descriptor_;
  std::string name_;
};

/// Looks at the first bytes of a stream; what it answers ends the reading.
using LookAtStart = std::function<std::optional<Failure>(const std::string& name,
                                                         std::span<const std::byte> start)>;

/// The bytes of a file, memory-mapped read-only when it is a regular file, read into memory when it
/// is a pipe or standard input ("-"). Moves, never copies; unmapped by its destructor.
class FileBytes {
 public:
  /// What is read into memory is counted by `budget`, and `look` sees how it starts; what is mapped is not.
  static Result<FileBytes> open(const std::string& path,
                                const MemoryBudget& budget = MemoryBudget(),
                                const LookAtStart& look = {});
  /// Bytes that are already in memory, as if they were the contents of a file named `name`.
  static FileBytes from_memory(std::string name, GrowingBytes bytes);
  static FileBytes from_memory(std::string name, const std::vector<std::byte>& bytes);

  FileBytes(FileBytes&&) noexcept;
  FileBytes& operator=(FileBytes&&) noexcept;
  ~FileBytes();

  std::span<const std::byte> bytes() const;
  std::string_view text() const;
  /// The path as the user gave it; "standard input" for "-".
  const std::string& name() const;
  bool is_mapped() const;
  /// The same file for reading piece by piece, as large as it may be; null when it is not mapped.
  std::unique_ptr<FileReader> reader() const;
  /// Tells whether the file has changed since it was opened (base/file_watch.hpp); null when it is not
  /// mapped.
  std::shared_ptr<const FileWatch> watch() const;

 private:
  struct State;
  explicit FileBytes(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fwsr
