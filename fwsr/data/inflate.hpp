// Inflating piece by piece, so that a reader can look at the first bytes and decide how many more
// it is willing to take. Internal: used by gzip, idx, zip and mat.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace fwsr {

/// What stands around the deflated data. Gzip data may come in several members, one after the
/// other.
enum class Wrapping { none, zlib, gzip };

/// One compressed stream, read from start to end like a file.
class Inflater {
 public:
  Inflater(std::span<const std::byte> compressed, Wrapping wrapping);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Fills `out` as far as the stream goes and returns the number of bytes. Fewer than asked for
  /// means that the stream has ended, well (`at_end`) or badly (`problem`).
  std::size_t read(std::span<std::byte> out);
  /// True when nothing more comes and the stream ended as it should, checksum included.
  bool at_end();
  /// "is cut off", "is broken (incorrect data check)"; empty while all is well.
  const std::string& problem() const { return problem_; }
  /// Compressed bytes used so far.
  std::size_t consumed() const { return consumed_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::span<const std::byte> input_;
  std::size_t consumed_ = 0;
  bool several_ = false;  // members may follow each other
  bool ended_ = false;
  std::string problem_;
};

/// Whether `out` is now what a gzip file of one member or several inflates to, all of it and nothing else, by their
/// checksums, too. Otherwise, and where this build cannot, `out` may hold anything: an Inflater then finds out what is
/// wrong. About twice as fast as an Inflater.
bool inflate_whole(std::span<const std::byte> compressed, std::span<std::byte> out);
/// What the end of a gzip file says it inflates to, were it of one member; nothing where that cannot be, or where it is
/// so large that nobody should wait for it without being asked whether to go on.
std::optional<std::size_t> size_when_inflated(std::span<const std::byte> compressed);

/// False when no deflated data of `compressed` bytes can inflate to `size` bytes (deflate never
/// does better than 1032 to 1), so that a lie about the size is found before memory is taken for
/// it.
bool can_inflate_to(std::size_t compressed, std::size_t size);

}  // namespace fwsr
