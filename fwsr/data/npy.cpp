#include "fwsr/data/npy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/files.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/string_bytes.hpp"
#include "fwsr/data/formats.hpp"
#include "fwsr/data/streamed.hpp"

namespace fwsr {

namespace {

/// Why this array cannot be points, or nothing.
std::optional<Failure> find_points_problem(const std::string& where, const NpyHeader& header) {
  const auto fail = [&](const char* what, const char* remedy) {
    return Failure{
        fmt::format("{}: shape {} {}; {}", where, shape_text(header.shape), what, remedy)};
  };
  if (header.is_text())
    return Failure{
        fmt::format("{}: holds text, not numbers; points need numbers, and labels go in "
                    "a file of their own",
                    where)};
  if (header.shape.size() < 2)
    return fail("is one list of numbers, and points need rows and columns",
                "for points of one feature save x.reshape(-1, 1)");
  if (header.shape.size() > 2)
    return fail("has more than two dimensions",
                "save x.reshape(len(x), -1), one row of features per point");
  if (header.count == 0)
    return fail("holds no numbers", "save at least one point with one feature");
  return std::nullopt;
}

/// Refuses a file that does not hold exactly what its header promises.
std::optional<Failure> find_size_problem(const std::string& where, const NpyHeader& header,
                                         std::size_t found) {
  const auto expected = static_cast<std::size_t>(header.total_bytes());
  if (found < expected)
    return Failure{
        fmt::format("{}: is cut off: shape {} of {} needs {} bytes, {} found; save or "
                    "copy the file again",
                    where, shape_text(header.shape), header.type(), expected, found)};
  if (found > expected)
    return Failure{
        fmt::format("{}: has {} bytes after the array of shape {}; save the file again "
                    "with numpy.save",
                    where, found - expected, shape_text(header.shape))};
  return std::nullopt;
}

/// The numbers in place, or nothing when they do not stand where a T may stand.
template <class T>
std::optional<PointsStorage> map_points(FileBytes& file, const NpyHeader& header) {
  const auto address = reinterpret_cast<std::uintptr_t>(file.bytes().data()) +
                       static_cast<std::uintptr_t>(header.offset);
  if (address % alignof(T) != 0 || header.offset % Index{sizeof(T)} != 0) return std::nullopt;
  return PointsStorage(
      MappedMatrix<T>{std::move(file), header.shape[0], header.shape[1], header.offset});
}

bool recognises_npy(const FileBytes& file) {
  return file.text().substr(0, 6) == "\x93NUMPY";
}

Result<Dataset> read_npy_file(FileBytes file, const ReadOptions& options) {
  Dataset data;
  data.memory = MemoryShare(options.budget);
  data.name = file.name();
  data.format = "npy";
  if (auto problem = find_unusable_option(data.name, "npy", options, false)) return *problem;
  const ByteSource next = source_of(file.bytes(), data.name);
  const auto header = read_npy_header(data.name, next);
  if (!header) return header.error();
  if (auto problem = find_points_problem(data.name, *header)) return *problem;
  if (auto problem = find_size_problem(data.name, *header, file.bytes().size())) return *problem;
  data.type = header->type();
  const StoredMatrix stored{header->number(), header->shape[0], header->shape[1],
                            header->by_columns};
  auto streamed = stream_points(file, stored, header->offset, options, data);
  if (!streamed) return streamed.error();
  if (*streamed) return data;

  if (auto mapped = map_narrow_points(file, stored, header->offset)) {
    data.points = std::move(*mapped);
    return data;
  }
  if (header->kind == 'f' && header->size >= 4 && !header->big_endian && !header->by_columns) {
    auto mapped =
        header->size == 4 ? map_points<float>(file, *header) : map_points<double>(file, *header);
    if (mapped) {
      data.points = std::move(*mapped);
      return data;
    }
    data.notes.push_back(fmt::format(
        "copied once ({}): the numbers start at byte {}, which is no multiple of their size",
        format_bytes(static_cast<double>(header->count * header->size)), header->offset));
  }
  auto points = read_npy_points(data.name, *header, next, data.notes, data.memory);
  if (!points) return points.error();
  data.points = std::move(*points);
  return data;
}

/// Appends one code point as UTF-8. @pre it is a valid one
void append_utf8(std::string& out, std::uint32_t c) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6), put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12), put(0x80 | (c >> 6 & 0x3f)), put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | c >> 18), put(0x80 | (c >> 12 & 0x3f));
    put(0x80 | (c >> 6 & 0x3f)), put(0x80 | (c & 0x3f));
  }
}

/// One fixed-width cell as UTF-8, without the zeros that fill it up; nothing when it is not
/// Unicode.
std::optional<std::string> cell_text(const NpyHeader& header, std::span<const std::byte> cell) {
  std::string text;
  if (header.kind == 'S') {
    text.assign(reinterpret_cast<const char*>(cell.data()), cell.size());
    text.erase(text.find_last_not_of('\0') + 1);
    return text;
  }
  std::size_t used = cell.size();
  while (used > 0 && cell[used - 1] == std::byte{0}) --used;
  for (std::size_t at = 0; at < used; at += 4) {
    std::uint32_t c = 0;
    for (std::size_t i = 0; i < 4; ++i)
      c |= std::to_integer<std::uint32_t>(cell[at + (header.big_endian ? 3 - i : i)]) << (8 * i);
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return std::nullopt;
    append_utf8(text, c);
  }
  return text;
}

Result<std::vector<std::string>> read_text_labels(const std::string& where, const NpyHeader& header,
                                                  const ByteSource& next, MemoryShare& memory) {
  if (auto refusal = memory.grow(where, header.size)) return *refusal;
  std::vector<std::byte> cell(static_cast<std::size_t>(header.size));
  std::vector<std::string> labels;
  for (Index i = 0; i < header.count; ++i) {
    if (auto got = next(cell); !got) return got.error();
    auto text = cell_text(header, cell);
    if (!text)
      return Failure{
          fmt::format("{}: label {} (counted from 0) is not valid Unicode text", where, i)};
    labels.push_back(std::move(*text));
    if (auto refusal = memory.grow(where, growing_string_bytes(labels.back()))) return *refusal;
  }
  return labels;
}

}  // namespace

Result<PointsStorage> read_npy_points(const std::string& where, const NpyHeader& header,
                                      const ByteSource& next, std::vector<std::string>& notes,
                                      MemoryShare& memory) {
  if (auto problem = find_points_problem(where, header)) return *problem;
  return read_points(where, {header.number(), header.shape[0], header.shape[1], header.by_columns},
                     next, notes, memory);
}

Result<std::vector<std::string>> read_npy_labels(const std::string& where, const NpyHeader& header,
                                                 const ByteSource& next, MemoryShare& memory) {
  const bool one_column =
      header.shape.size() == 1 || (header.shape.size() == 2 && header.shape[1] == 1);
  if (!one_column)
    return Failure{
        fmt::format("{}: shape {} is no list of labels; save one label per point, "
                    "x.reshape(-1)",
                    where, shape_text(header.shape))};
  if (header.count == 0 || header.size == 0)
    return Failure{fmt::format("{}: shape {} holds no labels", where, shape_text(header.shape))};
  if (header.is_text()) return read_text_labels(where, header, next, memory);
  return read_number_labels(where, header.number(), header.count, next, memory);
}

Result<std::vector<std::string>> npy_labels(const FileBytes& file, const MemoryBudget& budget) {
  return within_memory(file.name(), [&]() -> Result<std::vector<std::string>> {
    const ByteSource next = source_of(file.bytes(), file.name());
    const auto header = read_npy_header(file.name(), next);
    if (!header) return header.error();
    if (auto problem = find_size_problem(file.name(), *header, file.bytes().size()))
      return *problem;
    MemoryShare memory(budget);
    return read_npy_labels(file.name(), *header, next, memory);
  });
}

Format npy_format() {
  return {"npy", "NumPy array (.npy)", recognises_npy,
          [](FileBytes file, const ReadOptions& options) {
            const std::string name = file.name();
            return within_memory(name, [&] { return read_npy_file(std::move(file), options); });
          }};
}

}  // namespace fwsr
