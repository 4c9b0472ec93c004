// idx: the format of MNIST. Two zero bytes, a type, the number of dimensions, each length as a
// big-endian 32-bit number, then the numbers, also big-endian. Plain or compressed with gzip.
#include <array>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/files.hpp"
#include "fwsr/base/let_go.hpp"
#include "fwsr/data/binary.hpp"
#include "fwsr/data/formats.hpp"
#include "fwsr/data/inflate.hpp"
#include "fwsr/data/streamed.hpp"

namespace fwsr {

namespace {

std::optional<NumberType> type_of(std::byte code) {
  switch (std::to_integer<int>(code)) {
    case 0x08:
      return NumberType{NumberKind::unsigned_integer, 1, true};
    case 0x09:
      return NumberType{NumberKind::signed_integer, 1, true};
    case 0x0b:
      return NumberType{NumberKind::signed_integer, 2, true};
    case 0x0c:
      return NumberType{NumberKind::signed_integer, 4, true};
    case 0x0d:
      return NumberType{NumberKind::floating, 4, true};
    case 0x0e:
      return NumberType{NumberKind::floating, 8, true};
    default:
      return std::nullopt;
  }
}

bool is_idx_magic(std::span<const std::byte> start) {
  return start.size() == 4 && start[0] == std::byte{0} && start[1] == std::byte{0} &&
         type_of(start[2]) && start[3] != std::byte{0};
}

struct IdxHeader {
  NumberType type;
  std::vector<Index> shape;
  Index count = 1;
  Index total_bytes = 0;  // of the whole file
};

/// The bytes of an idx file, inflated on the way when they are compressed.
class IdxReader {
 public:
  explicit IdxReader(const FileBytes& file) : name_(file.name()), file_(file.bytes()) {
    if (looks_like_gzip(file_)) inflater_ = std::make_unique<Inflater>(file_, Wrapping::gzip);
    plain_ = source_of(file_, name_);
  }

  Result<Done> read(std::span<std::byte> out) {
    given_ += out.size();
    if (!inflater_) return plain_(out);
    if (inflater_->read(out) == out.size()) return Done{};
    return Failure{fmt::format("{}: {}; fetch the file again", name_,
                               inflater_->problem().empty()
                                   ? "the inflated data is shorter than its header promises"
                                   : "its gzip data " + inflater_->problem())};
  }

  Result<IdxHeader> read_header() {
    std::array<std::byte, 4> magic{};
    if (auto got = read(magic); !got) return got.error();
    if (!is_idx_magic(magic))
      return Failure{
          fmt::format("{}: does not begin like an idx file (0, 0, type, dimensions)", name_)};
    IdxHeader header{*type_of(magic[2]), {}, 1, 0};
    for (int d = 0; d < std::to_integer<int>(magic[3]); ++d) {
      std::array<std::byte, 4> length{};
      if (auto got = read(length); !got) return got.error();
      Index value = 0;
      for (const std::byte b : length) value = value << 8 | std::to_integer<Index>(b);
      header.shape.push_back(value);
      if (__builtin_mul_overflow(header.count, value, &header.count)) return too_large();
    }
    if (__builtin_mul_overflow(header.count, header.type.size, &header.total_bytes) ||
        __builtin_add_overflow(header.total_bytes, static_cast<Index>(given_), &header.total_bytes))
      return too_large();
    const auto expected = static_cast<std::size_t>(header.total_bytes);
    if (inflater_ ? !can_inflate_to(file_.size(), expected) : file_.size() < expected)
      return Failure{
          fmt::format("{}: is cut off: its header promises {} bytes, and {}{} are there; copy or "
                      "fetch the file again",
                      name_, expected, file_.size(), inflater_ ? " compressed ones" : "")};
    if (!inflater_ && file_.size() > expected) return stray_bytes();
    return header;
  }

  /// Makes ready, in one go, all that is still to be read: `all_bytes` with the header, where there is room for them
  /// beside what else `memory` counts. Else, or where something is wrong, reading goes on piece by piece.
  void inflate_rest(Index all_bytes, MemoryShare& memory) {
    const auto size = static_cast<std::size_t>(all_bytes);
    const auto held = static_cast<Index>(size + file_.size());  // the file, too, is read whole
    if (!inflater_ || size_when_inflated(file_) != size || memory.grow(name_, held)) return;
    whole_ = std::make_unique_for_overwrite<std::byte[]>(size);
    if (inflate_whole(file_, {whole_.get(), size})) {
      plain_ = source_of(std::span(whole_.get(), size).subspan(given_), name_);
      inflater_.reset();
      let_go(file_);
    } else {
      whole_.reset();
      memory.shrink(held);
    }
  }

  /// After the last number: nothing more may come.
  Result<Done> finish() {
    if (!inflater_) return Done{};
    if (!inflater_->at_end()) {
      if (inflater_->problem().empty()) return stray_bytes();
      return Failure{
          fmt::format("{}: its gzip data {}; fetch the file again", name_, inflater_->problem())};
    }
    if (inflater_->consumed() != file_.size()) return stray_bytes();
    return Done{};
  }

 private:
  Failure too_large() const {
    return Failure{
        fmt::format("{}: its lengths are too large for any memory; fetch the file again", name_)};
  }
  Failure stray_bytes() const {
    return Failure{
        fmt::format("{}: has bytes after the numbers its header promises; fetch the file "
                    "again",
                    name_)};
  }

  std::string name_;
  std::span<const std::byte> file_;
  std::unique_ptr<Inflater> inflater_;
  std::unique_ptr<std::byte[]> whole_;
  ByteSource plain_;
  std::size_t given_ = 0;
};

std::string lengths_text(std::span<const Index> lengths) {
  std::string text;
  for (const Index n : lengths.first(std::min<std::size_t>(8, lengths.size())))
    text += fmt::format("{}{}", text.empty() ? "" : " x ", n);
  return lengths.size() > 8 ? text + " x ..." : text;
}

bool recognises_idx(const FileBytes& file) {
  const auto bytes = file.bytes();
  if (!looks_like_gzip(bytes))
    return is_idx_magic(bytes.first(std::min<std::size_t>(4, bytes.size())));
  std::array<std::byte, 4> magic{};
  Inflater inflater(bytes, Wrapping::gzip);
  return inflater.read(magic) == 4 && is_idx_magic(magic);
}

Result<Dataset> read_idx_file(FileBytes file, const ReadOptions& options) {
  Dataset data;
  data.memory = MemoryShare(options.budget);
  data.name = file.name();
  data.format = "idx";
  if (auto problem = find_unusable_option(data.name, "idx", options, false)) return *problem;
  MemoryShare for_file(options.budget);  // while it is read
  IdxReader reader(file);
  const auto header = reader.read_header();
  if (!header) return header.error();
  if (header->shape.size() < 2)
    return Failure{
        fmt::format("{}: holds one list of {} numbers, which are labels and not points; "
                    "give it as the file of labels",
                    data.name, header->count)};
  if (header->count == 0)
    return Failure{
        fmt::format("{}: {} numbers are no points", data.name, lengths_text(header->shape))};
  data.type = name_of(header->type);
  const Index rows = header->shape[0];
  const Index features = header->count / rows;
  if (header->shape.size() > 2)
    data.notes.push_back(fmt::format("{} images of {} read as points of {} features", rows,
                                     lengths_text(std::span(header->shape).subspan(1)), features));
  if (header->shape.size() == 3) data.image = {header->shape[1], header->shape[2]};
  const StoredMatrix stored{header->type, rows, features, false};
  if (looks_like_gzip(file.bytes())) {
    const Index bytes =
        checked_bytes(rows, features, static_cast<std::size_t>(bytes_of_points(header->type)));
    if (auto problem = find_too_large(data.name, bytes, options,
                                      "compressed, it cannot be read in blocks; unpack it"))
      return *problem;
    if (bytes <= options.hold_at_most - header->total_bytes - std::ssize(file.bytes()))
      reader.inflate_rest(header->total_bytes, for_file);
  } else {
    const Index offset = header->total_bytes - header->count * header->type.size;
    auto streamed = stream_points(file, stored, offset, options, data);
    if (!streamed) return streamed.error();
    if (*streamed) return data;
    if (auto mapped = map_narrow_points(file, stored, offset)) {
      data.points = std::move(*mapped);
      return data;
    }
  }
  const ByteSource next = [&](std::span<std::byte> out) { return reader.read(out); };
  auto points = read_points(data.name, stored, next, data.notes, data.memory);
  if (!points) return points.error();
  if (auto done = reader.finish(); !done) return done.error();
  data.points = std::move(*points);
  return data;
}

}  // namespace

Result<std::vector<std::string>> idx_labels(const FileBytes& file, const MemoryBudget& budget) {
  return within_memory(file.name(), [&]() -> Result<std::vector<std::string>> {
    IdxReader reader(file);
    const auto header = reader.read_header();
    if (!header) return header.error();
    if (header->count == 0 || header->count != header->shape[0])
      return Failure{fmt::format("{}: {} numbers are no list of labels; give one label per point",
                                 file.name(), lengths_text(header->shape))};
    const ByteSource next = [&](std::span<std::byte> out) { return reader.read(out); };
    MemoryShare memory(budget);
    auto labels = read_number_labels(file.name(), header->type, header->count, next, memory);
    if (!labels) return labels;
    if (auto done = reader.finish(); !done) return done.error();
    return labels;
  });
}

Format idx_format() {
  return {"idx", "MNIST images (.idx, plain or .gz)", recognises_idx,
          [](FileBytes file, const ReadOptions& options) {
            const std::string name = file.name();
            return within_memory(name, [&] { return read_idx_file(std::move(file), options); });
          }};
}

}  // namespace fwsr
