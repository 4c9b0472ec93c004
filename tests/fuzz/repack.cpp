#include "repack.hpp"

#include <zlib.h>

#include <algorithm>
#include <string>
#include <utility>

#include "fuzz.hpp"
#include "fwsr/data/zip.hpp"

namespace fwsr::fuzz {

namespace {

using Change = std::function<void(Buffer&)>;

constexpr std::size_t largest = std::size_t{1} << 16;  // of an unpacked part

struct Part {
  std::string name;
  Buffer content;
  bool packed = false;
};

std::span<const std::byte> bytes_of(const Buffer& b) {
  return std::as_bytes(std::span(b));
}

void append(Buffer& to, std::span<const std::uint8_t> more) {
  to.insert(to.end(), more.begin(), more.end());
}
void append_number(Buffer& to, std::uint64_t value, int width, bool big_endian = false) {
  for (int i = 0; i < width; ++i)
    to.push_back(static_cast<std::uint8_t>(value >> 8 * (big_endian ? width - 1 - i : i)));
}
std::uint32_t word_at(std::span<const std::uint8_t> b, bool big_endian) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value |= std::uint32_t{b[big_endian ? 3 - i : i]} << 8 * i;
  return value;
}

std::optional<Buffer> inflated(std::span<const std::uint8_t> packed, Wrapping wrapping) {
  Buffer out(largest);
  Inflater inflater(std::as_bytes(packed), wrapping);
  out.resize(inflater.read(std::as_writable_bytes(std::span(out))));
  if (!inflater.problem().empty()) return std::nullopt;
  return out;
}

/// `window` as deflateInit2 takes it: -15 bare, 15 zlib, 31 gzip.
Buffer deflated(const Buffer& plain, int window) {
  z_stream z = {};
  require(deflateInit2(&z, 1, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib begins");
  Buffer out(deflateBound(&z, plain.size()) + 64);
  z.next_in = const_cast<Bytef*>(plain.data());
  z.avail_in = static_cast<uInt>(plain.size());
  z.next_out = out.data();
  z.avail_out = static_cast<uInt>(out.size());
  require(deflate(&z, Z_FINISH) == Z_STREAM_END, "zlib ends");
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

// ----------------------------------------------------------------------------------------- MATLAB

constexpr std::size_t mat_header = 128;
constexpr std::uint32_t mi_matrix = 14;
constexpr std::uint32_t mi_compressed = 15;

/// The variables, without their tags; what does not look like one ends the list.
std::vector<Part> split_mat(const Buffer& file, bool big_endian) {
  std::vector<Part> parts;
  std::span<const std::uint8_t> rest = std::span(file).subspan(mat_header);
  while (rest.size() >= 8) {
    const std::uint32_t type = word_at(rest, big_endian);
    const std::size_t length = word_at(rest.subspan(4), big_endian);
    if ((type != mi_matrix && type != mi_compressed) || rest.size() - 8 < length) break;
    auto content = rest.subspan(8, length);
    if (type == mi_matrix) {
      parts.push_back({"", {content.begin(), content.end()}, false});
    } else if (auto plain = inflated(content, Wrapping::zlib); plain && plain->size() >= 8) {
      parts.push_back({"", {plain->begin() + 8, plain->end()}, true});
    }
    rest = rest.subspan(8 + length);
  }
  return parts;
}

Buffer join_mat(const Buffer& header, const std::vector<Part>& parts, bool big_endian) {
  Buffer file(header.begin(), header.begin() + mat_header);
  for (const Part& part : parts) {
    Buffer element;
    append_number(element, mi_matrix, 4, big_endian);
    append_number(element, part.content.size(), 4, big_endian);
    append(element, part.content);
    if (part.packed) {
      const Buffer packed = deflated(element, 15);
      append_number(file, mi_compressed, 4, big_endian);
      append_number(file, packed.size(), 4, big_endian);
      append(file, packed);
    } else {
      append(file, element);
    }
  }
  return file;
}

// -------------------------------------------------------------------------------------------- zip

std::vector<Part> split_zip(const Buffer& file) {
  std::vector<Part> parts;
  const auto entries = read_zip_directory(bytes_of(file), "fuzz");
  if (!entries) return parts;
  for (const ZipEntry& entry : *entries) {
    auto reader = ZipReader::open(bytes_of(file), entry, "fuzz");
    if (!reader || entry.size > largest) continue;
    Buffer content(static_cast<std::size_t>(entry.size));
    if (!reader->read(std::as_writable_bytes(std::span(content)))) continue;
    parts.push_back({entry.name, std::move(content), entry.deflated});
  }
  return parts;
}

Buffer join_zip(const std::vector<Part>& parts) {
  Buffer file, directory;
  for (const Part& part : parts) {
    const Buffer data = part.packed ? deflated(part.content, -15) : part.content;
    const std::span name(reinterpret_cast<const std::uint8_t*>(part.name.data()), part.name.size());
    Buffer common;
    for (const int field : {20, 0, part.packed ? 8 : 0, 0, 0})
      append_number(common, static_cast<std::uint64_t>(field), 2);
    append_number(common, crc32_z(0, part.content.data(), part.content.size()), 4);
    append_number(common, data.size(), 4);
    append_number(common, part.content.size(), 4);
    append_number(common, name.size(), 2);
    append_number(common, 0, 2);  // no extra field
    append_number(directory, 0x02014b50, 4);
    append_number(directory, 20, 2);
    append(directory, common);
    append_number(directory, 0, 6);  // no comment, first disk,
    append_number(directory, 0, 4);  // no attributes
    append_number(directory, file.size(), 4);
    append(directory, name);
    append_number(file, 0x04034b50, 4);
    append(file, common);
    append(file, name);
    append(file, data);
  }
  const std::size_t at = file.size();
  append(file, directory);
  append_number(file, 0x06054b50, 4);
  append_number(file, 0, 4);
  append_number(file, parts.size(), 2);
  append_number(file, parts.size(), 2);
  append_number(file, directory.size(), 4);
  append_number(file, at, 4);
  append_number(file, 0, 2);
  return file;
}

/// Mostly the content of one part; at times whether it is packed, or that it is there at all.
void change_one(std::vector<Part>& parts, unsigned seed, const Change& change) {
  Part& part = parts[seed / 16 % parts.size()];
  switch (seed % 16) {
    case 0:
      part.packed = !part.packed;
      break;
    case 1:
      parts.push_back(part);
      break;
    case 2:
      std::swap(part, parts.front());
      break;
    default:
      change(part.content);
  }
}

}  // namespace

std::optional<Buffer> change_part(const Buffer& file, unsigned seed, const Change& change) {
  if (looks_like_gzip(bytes_of(file))) {
    auto plain = inflated(file, Wrapping::gzip);
    if (!plain) return std::nullopt;
    const bool once_more = looks_like_gzip(bytes_of(*plain));  // may be so for ever
    if (auto inside = once_more ? std::nullopt : change_part(*plain, seed, change))
      plain = inside;
    else
      change(*plain);
    return deflated(*plain, 31);
  }
  if (file.size() > mat_header && (file[126] == 'I' || file[126] == 'M')) {
    const bool big_endian = file[126] == 'M';
    std::vector<Part> parts = split_mat(file, big_endian);
    if (parts.empty()) return std::nullopt;
    change_one(parts, seed, change);
    return join_mat(file, parts, big_endian);
  }
  if (file.size() > 4 && file[0] == 'P' && file[1] == 'K') {
    std::vector<Part> parts = split_zip(file);
    if (parts.empty()) return std::nullopt;
    change_one(parts, seed, change);
    return join_zip(parts);
  }
  return std::nullopt;
}

}  // namespace fwsr::fuzz
