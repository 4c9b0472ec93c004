#include "fwsr/data/streamed.hpp"
#include "fwsr/base/memory.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/narrow_source.hpp"

namespace fwsr {

namespace {

/// Rows of a file. Numbers stored as T go straight to where they are wanted; others are converted on
/// the way, a few kilobytes at a time.
template <class T, class Source = RowSource<T>>
class FileRows : public Source {
 public:
  FileRows(std::unique_ptr<FileReader> file, const StoredMatrix& stored, Index offset)
      : file_(std::move(file)),
        type_(stored.type),
        rows_(stored.rows),
        cols_(stored.cols),
        offset_(offset) {}

  void read(Index first, Index last, T* out) const override {
    const Index count = (last - first) * cols_, start = start_of(first, last);
    if (is_stored_as_it_is()) {
      file_->read(start, std::as_writable_bytes(std::span(out, static_cast<std::size_t>(count))));
      return;
    }
    std::array<std::byte, 32768> piece;  // a multiple of every size
    const Index most = static_cast<Index>(piece.size()) / type_.size;
    for (Index begin = 0; begin < count; begin += most) {
      const Index here = std::min(most, count - begin);
      file_->read(start + begin * type_.size,
                  std::span(piece).first(static_cast<std::size_t>(here * type_.size)));
      convert(type_, piece.data(), here, out + begin);
    }
  }

 protected:
  /// The byte at which rows first .. last begin.
  Index start_of(Index first, Index last) const {
    if (first < 0 || last < first || last > rows_)
      throw Error(fmt::format("{}: has {} points; {} to {} were asked for", file_->name(), rows_,
                              first, last));
    return offset_ + first * cols_ * type_.size;
  }
  bool is_stored_as_it_is() const {
    return type_.kind == NumberKind::floating && type_.size == Index{sizeof(T)} &&
           !type_.big_endian;
  }

  std::unique_ptr<FileReader> file_;
  NumberType type_;
  Index rows_, cols_, offset_;
};

/// Narrow numbers in this machine's byte order, and booleans.
class NarrowFileRows final : public FileRows<float, NarrowSource> {
 public:
  using FileRows::FileRows;
  NarrowNumber number() const override { return *narrow_number(type_); }
  void read_stored(Index first, Index last, std::byte* out) const override {
    const Index bytes = (last - first) * cols_ * type_.size;
    file_->read(start_of(first, last), {out, static_cast<std::size_t>(bytes)});
    if (type_.kind == NumberKind::boolean)
      for (Index e = 0; e < bytes; ++e) out[e] = std::byte{out[e] != std::byte{0}};
  }
};

PointsStorage narrow_storage(std::unique_ptr<FileReader> file, const StoredMatrix& stored,
                             Index offset) {
  return StreamedMatrix<float>{std::make_unique<NarrowFileRows>(std::move(file), stored, offset),
                               stored.rows, stored.cols};
}

template <class T>
PointsStorage storage_of(std::unique_ptr<FileReader> file, const StoredMatrix& stored,
                         Index offset) {
  return StreamedMatrix<T>{std::make_unique<FileRows<T>>(std::move(file), stored, offset),
                           stored.rows, stored.cols};
}

}  // namespace

Result<bool> stream_points(const FileBytes& file, const StoredMatrix& stored, Index offset,
                           const ReadOptions& options, Dataset& data) {
  const NumberType target{NumberKind::floating, fits_single(stored.type) ? 4 : 8, false};
  const Index numbers = stored.rows * stored.cols;  // as many as the file holds
  const bool by_columns = stored.by_columns && stored.rows > 1 && stored.cols > 1;
  const bool swapped = stored.type.big_endian && stored.type.size > 1;
  const bool converted = swapped || name_of(stored.type) != name_of(target);
  const Index held_each = bytes_of_points(stored.type);
  if (by_columns) {
    if (auto problem = find_too_large(file.name(), numbers * held_each, options,
                                      "stored column by column, it cannot be read in blocks; save "
                                      "numpy.ascontiguousarray(x)"))
      return *problem;
    return false;
  }
  data.can_be_streamed = file.is_mapped();
  // While numbers are converted, file and points are both there.
  const bool copied = swapped || name_of(stored.type) != name_of_points(stored.type);
  const Index held = numbers * (held_each + (copied ? stored.type.size : 0));
  if (held <= options.hold_at_most) return false;
  auto reader = file.reader();
  if (!reader) return false;
  const bool narrow = narrow_number(stored.type) && !swapped;
  data.points = narrow             ? narrow_storage(std::move(reader), stored, offset)
                : target.size == 4 ? storage_of<float>(std::move(reader), stored, offset)
                                   : storage_of<double>(std::move(reader), stored, offset);
  if (converted)
    data.notes.push_back(
        fmt::format("{}{} converted to {} whenever it is read{}", swapped ? "big-endian " : "",
                    name_of(stored.type), name_of(target),
                    stored.type.kind != NumberKind::floating && stored.type.size == 8
                        ? "; values beyond 2^53 lose digits"
                        : ""));
  return true;
}

std::optional<Failure> find_too_large(const std::string& name, Index bytes,
                                      const ReadOptions& options, const char* why) {
  if (bytes <= options.hold_at_most) return std::nullopt;
  return Failure{fmt::format("{}: its points take {}, more than the {} of memory allowed; {}", name,
                             format_bytes(static_cast<double>(bytes)),
                             format_bytes(static_cast<double>(options.hold_at_most)), why)};
}

}  // namespace fwsr
