// Binary files built byte by byte, and a look at what was read from them.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fwsr/data/dataset.hpp"
#include "memory_file.hpp"

namespace fwsr::testing {

/// The bytes of some numbers, as this (little-endian) machine stores them.
template <class T>
std::string raw(const std::vector<T>& numbers) {
  std::string bytes(numbers.size() * sizeof(T), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}
/// The same, most significant byte first.
template <class T>
std::string raw_big(const std::vector<T>& numbers) {
  std::string bytes = raw(numbers);
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T))
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + sizeof(T)));
  return bytes;
}
inline std::string u16(std::uint64_t v) {
  return raw<std::uint16_t>({static_cast<std::uint16_t>(v)});
}
inline std::string u32(std::uint64_t v) {
  return raw<std::uint32_t>({static_cast<std::uint32_t>(v)});
}
inline std::string u64(std::uint64_t v) {
  return raw<std::uint64_t>({v});
}

/// An .npy image around `dict`, its numbers `padding` bytes further than they need be.
inline std::string npy_around(std::string dict, const std::string& data, int version = 1,
                              std::size_t padding = 0) {
  const std::size_t fixed = version == 1 ? 10 : 12;
  dict.append(63 - (fixed + dict.size()) % 64 + padding, ' ');
  dict += '\n';
  return std::string("\x93NUMPY") + static_cast<char>(version) + '\0' +
         (version == 1 ? u16(dict.size()) : u32(dict.size())) + dict + data;
}
inline std::string npy(const std::string& descr, const std::string& shape, const std::string& data,
                       bool fortran = false) {
  return npy_around("{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                        ", 'shape': " + shape + ", }",
                    data);
}

/// `bits` as zlib's inflateInit2 takes them: -15 bare, 15 zlib, 31 gzip.
inline std::string deflated(std::string_view text, int bits) {
  z_stream z = {};
  EXPECT_EQ(deflateInit2(&z, 9, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&z, text.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}
inline std::string gzipped(std::string_view text) {
  return deflated(text, 31);
}

struct ZipMember {
  std::string name;
  std::string content;
  bool deflate = false;
  bool zip64 = false;  // sizes only in the zip64 field of the directory
};

inline std::string zip(const std::vector<ZipMember>& members) {
  std::string file;
  std::string directory;
  for (const ZipMember& m : members) {
    const std::string data = m.deflate ? deflated(m.content, -15) : m.content;
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(m.content.data()),
                           static_cast<uInt>(m.content.size()));
    const std::string common = u16(20) + u16(0) + u16(m.deflate ? 8 : 0) + u32(0) + u32(crc);
    const std::string sizes =
        m.zip64 ? u32(0xffffffff) + u32(0xffffffff) : u32(data.size()) + u32(m.content.size());
    const std::string extra =
        m.zip64 ? u16(1) + u16(16) + u64(m.content.size()) + u64(data.size()) : "";
    directory += u32(0x02014b50) + u16(20) + common + sizes + u16(m.name.size()) +
                 u16(extra.size()) + u16(0) + u16(0) + u16(0) + u32(0) + u32(file.size()) + m.name +
                 extra;
    file += u32(0x04034b50) + common + sizes + u16(m.name.size()) + u16(extra.size()) + m.name +
            extra + data;
  }
  return file + directory + u32(0x06054b50) + u16(0) + u16(0) + u16(members.size()) +
         u16(members.size()) + u32(directory.size()) + u32(file.size()) + u16(0);
}

/// All numbers of dense points, row by row; every stored entry of sparse ones.
inline std::vector<double> values_of(const Dataset& data) {
  std::vector<double> all;
  std::visit(
      [&](const auto& view) {
        for (Index i = 0; i < view.rows; ++i) {
          if constexpr (requires { view.starts; })
            for (auto e = view.starts[i]; e < view.starts[i + 1]; ++e)
              all.push_back(view.values[e]);
          else if constexpr (requires { view.source; }) {
            std::vector<std::conditional_t<
                std::is_same_v<decltype(view), const fwsr::StreamView<float>&>, float, double>>
                row(static_cast<std::size_t>(view.cols));
            view.source->read(i, i + 1, row.data());
            all.insert(all.end(), row.begin(), row.end());
          } else if constexpr (requires { view.numbers; }) {
            for (Index j = 0; j < view.cols; ++j) all.push_back(view(i, j));
          } else
            for (const auto v : view.row(i)) all.push_back(v);
        }
      },
      data.view());
  return all;
}

/// True when some note holds `part`.
inline bool has_note(const Dataset& data, const std::string& part) {
  return std::any_of(data.notes.begin(), data.notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

/// Damages `good` in every way the text readers are tried with; what is read nonetheless is looked
/// at number by number.
template <class Read>
void expect_reader_survives(const std::string& good, std::string_view name, Read&& read) {
  expect_survives_damage(good, name, [&](const std::string& broken) {
    auto result = read(memory_file(broken, std::string(name)));
    if (result) values_of(*result);
    return result;
  });
}

/// A file of the real data sets, when they are on this machine.
inline std::optional<std::string> find_data(const std::string& relative) {
  const char* folder = std::getenv("FWSR_DATA");
  const std::filesystem::path root =
      folder ? folder : std::filesystem::path(FWSR_SOURCE_DIR) / ".." / "shared" / "data";
  const auto path = root / relative;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path.string();
}

}  // namespace fwsr::testing
