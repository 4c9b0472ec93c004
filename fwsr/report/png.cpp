#include "fwsr/report/png.hpp"

#include <algorithm>
#include <string_view>

#include <zlib.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr::report {

namespace {

using Bytes = std::vector<unsigned char>;

void add_number(Bytes& to, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8)
    to.push_back(static_cast<unsigned char>(number >> shift));
}

/// Length, name, content, and the check sum of name and content.
void add_chunk(Bytes& to, std::string_view name, const Bytes& content) {
  add_number(to, static_cast<std::uint32_t>(content.size()));
  const std::size_t start = to.size();
  to.insert(to.end(), name.begin(), name.end());
  to.insert(to.end(), content.begin(), content.end());
  const uLong sum = crc32(0, to.data() + start, static_cast<uInt>(to.size() - start));
  add_number(to, static_cast<std::uint32_t>(sum));
}

}  // namespace

std::vector<unsigned char> png_of(const Picture& picture) {
  const Index line = picture.width * picture.channels;
  Bytes raw;
  raw.reserve(at((line + 1) * picture.height));
  for (Index y = 0; y < picture.height; ++y) {
    raw.push_back(0);  // as it is: what has many bytes that are equal needs no filter
    const auto begin = picture.pixels.begin() + y * line;
    raw.insert(raw.end(), begin, begin + line);
  }
  uLongf size = compressBound(static_cast<uLong>(raw.size()));
  Bytes packed(size);
  if (compress2(packed.data(), &size, raw.data(), static_cast<uLong>(raw.size()), 6) != Z_OK)
    throw Error("zlib could not compress a picture");
  packed.resize(size);

  Bytes out = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  Bytes head;
  add_number(head, static_cast<std::uint32_t>(picture.width));
  add_number(head, static_cast<std::uint32_t>(picture.height));
  const unsigned char colour = picture.channels == 3 ? 2 : 0;
  head.insert(head.end(), {8, colour, 0, 0, 0});
  add_chunk(out, "IHDR", head);
  add_chunk(out, "IDAT", packed);
  add_chunk(out, "IEND", {});
  return out;
}

}  // namespace fwsr::report
