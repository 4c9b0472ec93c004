#include "fwsr/data/zip.hpp"

#include <zlib.h>

#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/files.hpp"
#include "fwsr/base/let_go.hpp"
#include "fwsr/data/binary.hpp"

namespace fwsr {

namespace {

// All numbers of a zip file are little-endian. Offsets below are those of PKWARE's APPNOTE.
using Bytes = std::span<const std::byte>;

std::uint64_t number_at(Bytes b, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i)
    value |= std::to_integer<std::uint64_t>(b[at + i]) << (8 * i);
  return value;
}
std::uint64_t u16(Bytes b, std::size_t at) {
  return number_at(b, at, 2);
}
std::uint64_t u32(Bytes b, std::size_t at) {
  return number_at(b, at, 4);
}
std::uint64_t u64(Bytes b, std::size_t at) {
  return number_at(b, at, 8);
}

bool has_signature(Bytes b, std::uint64_t at, std::uint32_t signature, std::size_t length) {
  return at <= b.size() && b.size() - at >= length &&
         u32(b, static_cast<std::size_t>(at)) == signature;
}

constexpr std::uint32_t local_header = 0x04034b50;
constexpr std::uint32_t directory_line = 0x02014b50;
constexpr std::uint32_t end_of_directory = 0x06054b50;
constexpr std::uint32_t wide_end_of_directory = 0x06064b50;  // zip64
constexpr std::uint32_t wide_locator = 0x07064b50;           // zip64

struct Directory {
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
};

/// Where the last record starts: it ends the file, after a comment of up to 65535 bytes.
std::optional<std::size_t> find_end(Bytes zip) {
  constexpr std::size_t fixed = 22;
  for (std::size_t comment = 0; comment <= 0xffff && comment + fixed <= zip.size(); ++comment) {
    const std::size_t at = zip.size() - fixed - comment;
    if (u32(zip, at) == end_of_directory && u16(zip, at + 20) == comment) return at;
  }
  return std::nullopt;
}

/// Locates the directory; returns what is wrong, or an empty string.
std::string find_directory(Bytes zip, Directory& directory) {
  const auto end = find_end(zip);
  if (!end)
    return "has no zip directory at its end, so it is cut off or no zip file; copy or save the "
           "file again";
  directory = {u32(zip, *end + 16), u32(zip, *end + 12), u16(zip, *end + 10)};
  const bool wide =
      directory.at == 0xffffffff || directory.bytes == 0xffffffff || directory.entries == 0xffff;
  if (wide && *end >= 20 && has_signature(zip, *end - 20, wide_locator, 20)) {
    const std::uint64_t record = u64(zip, *end - 20 + 8);
    if (!has_signature(zip, record, wide_end_of_directory, 56))
      return "its zip64 record is missing";
    const auto at = static_cast<std::size_t>(record);
    directory = {u64(zip, at + 48), u64(zip, at + 40), u64(zip, at + 32)};
  } else if (u16(zip, *end + 4) != 0 || u16(zip, *end + 8) != directory.entries) {
    return "is one part of a zip file in several parts";
  }
  if (directory.at > zip.size() || directory.bytes > zip.size() - directory.at)
    return "its zip directory points outside the file";
  return {};
}

/// Takes the sizes that did not fit in 32 bits from the zip64 field; false when they are not there.
bool widen(ZipEntry& entry, Bytes extra) {
  std::uint64_t* const narrow[] = {&entry.size, &entry.compressed, &entry.header_at};
  bool needed = false;
  for (const auto* field : narrow) needed = needed || *field == 0xffffffff;
  if (!needed) return true;
  for (std::size_t at = 0; at + 4 <= extra.size();) {
    const std::size_t length = u16(extra, at + 2);
    if (extra.size() - at - 4 < length) return false;
    if (u16(extra, at) == 1) {
      const Bytes field = extra.subspan(at + 4, length);
      std::size_t used = 0;
      for (auto* value : narrow) {
        if (*value != 0xffffffff) continue;
        if (field.size() - used < 8) return false;
        *value = u64(field, used);
        used += 8;
      }
      return true;
    }
    at += 4 + length;
  }
  return false;
}

/// One line of the directory, which starts `lines`; cuts it off `lines`. Returns what is wrong.
std::string take_entry(Bytes& lines, ZipEntry& entry) {
  constexpr std::size_t fixed = 46;
  if (!has_signature(lines, 0, directory_line, fixed)) return "its zip directory is broken";
  const std::size_t name_length = u16(lines, 28);
  const std::size_t extra_length = u16(lines, 30);
  const std::size_t whole = fixed + name_length + extra_length + u16(lines, 32);
  if (lines.size() < whole) return "its zip directory is cut off";
  entry.name.assign(reinterpret_cast<const char*>(lines.data()) + fixed, name_length);
  const std::uint64_t flags = u16(lines, 8);
  const std::uint64_t method = u16(lines, 10);
  entry.crc = static_cast<std::uint32_t>(u32(lines, 16));
  entry.compressed = u32(lines, 20);
  entry.size = u32(lines, 24);
  entry.header_at = u32(lines, 42);
  entry.deflated = method == 8;
  const std::string shown = printable(entry.name);
  if (!widen(entry, lines.subspan(fixed + name_length, extra_length)))
    return fmt::format("entry '{}' has no zip64 sizes", shown);
  if (flags & 1) return fmt::format("entry '{}' is encrypted; save it without a password", shown);
  if (method != 0 && method != 8)
    return fmt::format(
        "entry '{}' is compressed by method {}; save it with numpy.savez or "
        "numpy.savez_compressed",
        shown, method);
  lines = lines.subspan(whole);
  return {};
}

}  // namespace

Result<std::vector<ZipEntry>> read_zip_directory(Bytes zip, const std::string& name) {
  const auto fail = [&](const std::string& what) { return Failure{name + ": " + what}; };
  Directory directory;
  if (const auto problem = find_directory(zip, directory); !problem.empty()) return fail(problem);
  Bytes lines = zip.subspan(static_cast<std::size_t>(directory.at),
                            static_cast<std::size_t>(directory.bytes));
  std::vector<ZipEntry> entries;
  std::set<std::string> names;
  while (!lines.empty()) {
    ZipEntry entry;
    if (const auto problem = take_entry(lines, entry); !problem.empty()) return fail(problem);
    if (!names.insert(entry.name).second)
      return fail(fmt::format("holds two entries called '{}'", printable(entry.name)));
    entries.push_back(std::move(entry));
  }
  if (entries.size() != directory.entries)
    return fail(fmt::format("its zip directory lists {} entries and announces {}", entries.size(),
                            directory.entries));
  return entries;
}

Result<ZipReader> ZipReader::open(Bytes zip, const ZipEntry& entry, std::string where) {
  constexpr std::size_t fixed = 30;
  if (!has_signature(zip, entry.header_at, local_header, fixed))
    return Failure{fmt::format("{}: is not where the zip directory says", where)};
  const auto header = static_cast<std::size_t>(entry.header_at);
  const std::size_t start = header + fixed + u16(zip, header + 26) + u16(zip, header + 28);
  if (start > zip.size() || zip.size() - start < entry.compressed)
    return Failure{
        fmt::format("{}: is cut off: {} bytes expected, {} found; copy or save the file again",
                    where, entry.compressed, start > zip.size() ? 0 : zip.size() - start)};
  if (entry.deflated ? !can_inflate_to(entry.compressed, entry.size)
                     : entry.compressed != entry.size)
    return Failure{fmt::format("{}: {} bytes in the zip file cannot hold the {} bytes stated",
                               where, entry.compressed, entry.size)};
  ZipReader reader;
  reader.where_ = std::move(where);
  reader.data_ = zip.subspan(start, static_cast<std::size_t>(entry.compressed));
  if (entry.deflated) reader.inflater_ = std::make_unique<Inflater>(reader.data_, Wrapping::none);
  reader.size_ = entry.size;
  reader.stated_crc_ = entry.crc;
  return reader;
}

Result<Done> ZipReader::read(std::span<std::byte> out) {
  if (out.size() > size_ - given_)
    return Failure{
        fmt::format("{}: is cut off: {} bytes expected, {} found; copy or save the file again",
                    where_, given_ + out.size(), size_)};
  if (out.empty()) return Done{};  // crc32_z takes no bytes at all for "begin again"
  if (inflater_) {
    if (inflater_->read(out) < out.size())
      return Failure{fmt::format(
          "{}: its compressed data {}", where_,
          inflater_->problem().empty() ? "is shorter than stated" : inflater_->problem())};
  } else {
    copy_and_let_go(data_.subspan(given_, out.size()), out);
  }
  given_ += out.size();
  crc_ = static_cast<std::uint32_t>(
      crc32_z(crc_, reinterpret_cast<const Bytef*>(out.data()), out.size()));
  return Done{};
}

Result<Done> ZipReader::finish() {
  if (given_ != size_)
    return Failure{fmt::format("{}: has {} bytes after its array", where_, size_ - given_)};
  if (inflater_ && (!inflater_->at_end() || inflater_->consumed() != data_.size()))
    return Failure{fmt::format("{}: its compressed data does not end where stated", where_)};
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  if (crc_ != stated_crc_)
    return Failure{
        fmt::format("{}: its checksum is wrong, so the file is damaged; save or copy it "
                    "again",
                    where_)};
#endif
  return Done{};
}

}  // namespace fwsr
