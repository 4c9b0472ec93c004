#include <zlib.h>

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/let_go.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/data/formats.hpp"
#include "fwsr/data/inflate.hpp"

namespace fwsr {

struct Inflater::State {
  z_stream z = {};
};

Inflater::Inflater(std::span<const std::byte> compressed, Wrapping wrapping)
    : state_(std::make_unique<State>()), input_(compressed), several_(wrapping == Wrapping::gzip) {
  // zlib's code for "window of 32 KiB" is 15; negative means no wrapping, 16 more means gzip.
  const int window = wrapping == Wrapping::none ? -15 : wrapping == Wrapping::zlib ? 15 : 15 + 16;
  if (inflateInit2(&state_->z, window) != Z_OK) throw std::bad_alloc();
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  inflateValidate(&state_->z, 0);  // whatever the checksum says
#endif
}

Inflater::~Inflater() {
  inflateEnd(&state_->z);
}

std::size_t Inflater::read(std::span<std::byte> out) {
  constexpr std::size_t piece = std::size_t{1} << 20;  // small beside what may be held
  z_stream& z = state_->z;
  std::size_t made = 0;
  while (made < out.size() && !ended_ && problem_.empty()) {
    const auto in = input_.subspan(consumed_, std::min(piece, input_.size() - consumed_));
    const auto room = out.subspan(made, std::min(piece, out.size() - made));
    // zlib promises not to write through next_in.
    z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
    z.avail_in = static_cast<uInt>(in.size());
    z.next_out = reinterpret_cast<Bytef*>(room.data());
    z.avail_out = static_cast<uInt>(room.size());
    const int code = inflate(&z, Z_NO_FLUSH);
    const std::size_t used = in.size() - z.avail_in;
    let_go(in.first(used));
    consumed_ += used;
    made += room.size() - z.avail_out;
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code == Z_STREAM_END) {
      const auto rest = input_.subspan(consumed_);
      if (!several_ || rest.empty())
        ended_ = true;
      else if (!looks_like_gzip(rest) || inflateReset(&z) != Z_OK)
        problem_ = "is followed by stray bytes";
    } else if (code == Z_BUF_ERROR ||
               (code == Z_OK && z.avail_in == 0 && z.avail_out != 0 && consumed_ == input_.size()))
      problem_ = "is cut off";
    else if (code != Z_OK)
      problem_ = fmt::format("is broken ({})", z.msg ? z.msg : "not deflated data");
  }
  return made;
}

bool Inflater::at_end() {
  std::byte extra{};
  return read({&extra, 1}) == 0 && ended_ && problem_.empty();
}

bool can_inflate_to(std::size_t compressed, std::size_t size) {
  return size / 1032 <= compressed;
}

bool looks_like_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 3 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b} &&
         bytes[2] == std::byte{8};
}

Result<GrowingBytes> gunzip(std::span<const std::byte> compressed, const std::string& name,
                            const MemoryBudget& budget, const KeepGoing& keep_going) {
  const auto fail = [&](const std::string& what) {
    return Failure{
        fmt::format("{}: its gzip data {}; fetch or compress the file again", name, what)};
  };
  try {
    if (const auto size = size_when_inflated(compressed)) {
      throw_if_cancelled(keep_going);
      MemoryShare for_file(budget);  // which is read whole, too
      GrowingBytes all(budget);
      const auto refusal = for_file.grow(name, std::ssize(compressed));
      const auto room = all.room_for(name, *size);
      if (!refusal && room && inflate_whole(compressed, room->first(*size))) {
        all.filled(*size);
        let_go(compressed);
        return all;
      }
    }
    Inflater inflater(compressed, Wrapping::gzip);
    GrowingBytes all(budget);
    constexpr std::size_t piece = std::size_t{1} << 22;  // between questions whether to go on
    for (bool more = true; more;) {
      throw_if_cancelled(keep_going);
      const auto room = all.room(name);
      if (!room) return room.error();
      const auto part = room->first(std::min(piece, room->size()));
      const std::size_t got = inflater.read(part);
      all.filled(got);
      more = got == part.size();
    }
    if (!inflater.at_end()) return fail(inflater.problem());
    all.finish();
    return all;
  } catch (const std::bad_alloc&) {
    return Failure{fmt::format("{}: does not fit in memory when inflated", name)};
  }
}

}  // namespace fwsr
