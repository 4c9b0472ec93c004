#include "fwsr/data/streamed.hpp"
#include "fwsr/base/memory.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace fwsr {

namespace {

/// Rows of a file. Numbers stored as T go straight to where they are wanted; others are converted on
/// the way, a few kilobytes at a time.
template <class T>
class FileRows final : public RowSource<T> {
 public:
  FileRows(std::unique_ptr<FileReader> file, const StoredMatrix& stored, Index offset)
      : file_(std::move(file)),
        type_(stored.type),
        rows_(stored.rows),
        cols_(stored.cols),
        offset_(offset) {}

  void read(Index first, Index last, T* out) const override {
    if (first < 0 || last < first || last > rows_)
      throw Error(fmt::format("{}: has {} points; {} to {} were asked for", file_->name(), rows_,
                              first, last));
    const Index count = (last - first) * cols_;
    const Index start = offset_ + first * cols_ * type_.size;
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

 private:
  bool is_stored_as_it_is() const {
    return type_.kind == NumberKind::floating && type_.size == Index{sizeof(T)} &&
           !type_.big_endian;
  }

  std::unique_ptr<FileReader> file_;
  NumberType type_;
  Index rows_, cols_, offset_;
};

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
  if (by_columns) {
    if (auto problem = find_too_large(file.name(), numbers * target.size, options,
                                      "stored column by column, it cannot be read in blocks; save "
                                      "numpy.ascontiguousarray(x)"))
      return *problem;
    return false;
  }
  data.can_be_streamed = file.is_mapped();
  // While numbers are converted, file and points are both there.
  const Index held = numbers * (target.size + (converted ? stored.type.size : 0));
  if (held <= options.hold_at_most) return false;
  auto reader = file.reader();
  if (!reader) return false;
  data.points = target.size == 4 ? storage_of<float>(std::move(reader), stored, offset)
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
