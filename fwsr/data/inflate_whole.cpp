#include "fwsr/data/formats.hpp"
#include "fwsr/data/inflate.hpp"

#if defined(FWSR_WITH_DEFLATE)
#include <libdeflate.h>
#endif

namespace fwsr {

#if defined(FWSR_WITH_DEFLATE)

bool inflate_whole(std::span<const std::byte> compressed, std::span<std::byte> out) {
  struct Free {
    void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
  };
  const std::unique_ptr<libdeflate_decompressor, Free> decompressor(
      libdeflate_alloc_decompressor());
  if (!decompressor) return false;
  while (!compressed.empty()) {
    std::size_t used = 0, made = 0;
    const libdeflate_result result =
        libdeflate_gzip_decompress_ex(decompressor.get(), compressed.data(), compressed.size(),
                                      out.data(), out.size(), &used, &made);
    if (result != LIBDEFLATE_SUCCESS || used == 0) return false;
    compressed = compressed.subspan(used);
    out = out.subspan(made);
  }
  return out.empty();
}

#else

bool inflate_whole(std::span<const std::byte>, std::span<std::byte>) {
  return false;
}

#endif

std::optional<std::size_t> size_when_inflated(std::span<const std::byte> compressed) {
  constexpr std::size_t most = std::size_t{1} << 28, least_member = 18;
  if (!looks_like_gzip(compressed) || compressed.size() < least_member) return std::nullopt;
  std::size_t size = 0;
  for (const std::byte b : {compressed[compressed.size() - 1], compressed[compressed.size() - 2],
                            compressed[compressed.size() - 3], compressed[compressed.size() - 4]})
    size = size << 8 | std::to_integer<std::size_t>(b);
  if (size == 0 || size > most || !can_inflate_to(compressed.size(), size)) return std::nullopt;
  return size;
}

}  // namespace fwsr
