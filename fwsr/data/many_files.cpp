#include "fwsr/data/many_files.hpp"

#include <glob.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/narrow_source.hpp"
#include "fwsr/base/quoted.hpp"
#include "fwsr/data/formats.hpp"

namespace fwsr {

namespace {

/// The rows of several streams, one behind the other.
template <class T, class Source = RowSource<T>>
class JoinedRows : public Source {
 public:
  explicit JoinedRows(Index cols) : cols_(cols) {}

  void add(StreamedMatrix<T> part) {
    starts_.push_back(starts_.back() + part.rows);
    parts_.push_back(std::move(part.source));
  }
  Index rows() const { return starts_.back(); }

  void read(Index first, Index last, T* out) const override {
    each(first, last, [&](const RowSource<T>& part, Index from, Index to, Index before) {
      part.read(from, to, out + before * cols_);
    });
  }

 protected:
  /// Calls use(part, first, last, rows before) for all parts that some rows are of.
  template <class Use>
  void each(Index first, Index last, Use&& use) const {
    const Index begin = first;
    auto part = static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), first) -
                                         starts_.begin() - 1);
    for (; first < last; ++part) {
      const Index end = std::min(last, starts_[part + 1]);
      use(*parts_[part], first - starts_[part], end - starts_[part], first - begin);
      first = end;
    }
  }

  Index cols_;
  std::vector<Index> starts_{0};
  std::vector<std::unique_ptr<const RowSource<T>>> parts_;
};

/// The same of narrow numbers, all of one type.
class JoinedNarrowRows final : public JoinedRows<float, NarrowSource> {
 public:
  using JoinedRows::JoinedRows;
  NarrowNumber number() const override { return narrow_source(parts_.front().get())->number(); }
  void read_stored(Index first, Index last, std::byte* out) const override {
    const Index row = cols_ * bytes_of(number());
    each(first, last, [&](const RowSource<float>& part, Index from, Index to, Index before) {
      narrow_source(&part)->read_stored(from, to, out + before * row);
    });
  }
};

/// Some of the rows of a stream.
template <class T, class Source = RowSource<T>>
class SomeRows : public Source {
 public:
  SomeRows(std::shared_ptr<const Dataset> all, const RowSource<T>* source, Index before)
      : all_(std::move(all)), source_(source), before_(before) {}
  void read(Index first, Index last, T* out) const override {
    source_->read(before_ + first, before_ + last, out);
  }

 protected:
  std::shared_ptr<const Dataset> all_;
  const RowSource<T>* source_;
  Index before_;
};

class SomeNarrowRows final : public SomeRows<float, NarrowSource> {
 public:
  using SomeRows::SomeRows;
  NarrowNumber number() const override { return narrow_source(source_)->number(); }
  void read_stored(Index first, Index last, std::byte* out) const override {
    narrow_source(source_)->read_stored(before_ + first, before_ + last, out);
  }
};

/// One file as a stream.
Result<Dataset> open_stream(const std::string& path, ReadOptions options) {
  auto file = FileBytes::open(path, options.budget);
  if (!file) return file.error();
  const std::string_view start = file->text().substr(0, 6);
  const bool idx = start.size() >= 4 && start[0] == '\0' && start[1] == '\0';
  if (!start.starts_with("\x93NUMPY") && !idx)
    return Failure{
        path +
        (looks_like_gzip(file->bytes())
             ? ": is compressed, and a part of it can be read by nobody who has not unpacked "
               "all before it; unpack it first (gunzip), or choose on one machine with fwsr"
             : ": only npy, plain idx, csv and libsvm files can be read in parts; save the "
               "points with numpy.save, or choose on one machine with fwsr")};
  options.hold_at_most = 0;
  Result<Dataset> data = read_dataset(std::move(*file), options);
  if (!data) return data;
  if (!is_streamed(data->view()))
    return Failure{path +
                   ": cannot be read in parts; save it again with numpy.save, in row-major order"};
  return data;
}

/// Whether all parts hold narrow numbers of one type.
bool are_narrow(const std::vector<Dataset>& parts) {
  const auto number_of = [](const Dataset& data) -> std::optional<NarrowNumber> {
    const NarrowSource* const source = narrow_source(data.view());
    return source ? std::optional(source->number()) : std::nullopt;
  };
  const auto first = number_of(parts.front());
  return first && std::all_of(parts.begin(), parts.end(),
                              [&](const Dataset& part) { return number_of(part) == first; });
}

template <class T, class Joined = JoinedRows<T>>
Result<Dataset> join(std::vector<Dataset> parts) {
  const Index cols = cols_of(parts.front().view());
  auto joined = std::make_unique<Joined>(cols);
  for (Dataset& part : parts) {
    if (cols_of(part.view()) != cols)
      return Failure{
          fmt::format("{}: has {} features, and {} has {}; the files of one set have the same",
                      part.name, cols_of(part.view()), parts.front().name, cols)};
    if (!std::holds_alternative<StreamedMatrix<T>>(part.points))
      return Failure{
          fmt::format("{}: holds {}, and {} {}; save the files of one set with one type of number",
                      part.name, part.type, parts.front().name, parts.front().type)};
    joined->add(std::move(std::get<StreamedMatrix<T>>(part.points)));
  }
  Dataset all = std::move(parts.front());
  const Index rows = joined->rows();
  all.points = StreamedMatrix<T>{std::move(joined), rows, cols};
  return all;
}

/// Rows of narrow numbers as they are stored.
RowsHere copy_or_stream_narrow(std::shared_ptr<const Dataset> all, Index first, Index last,
                               Index hold_at_most) {
  const auto& stream = std::get<StreamedMatrix<float>>(all->points);
  const NarrowSource& source = *narrow_source(stream.source.get());
  const Index rows = last - first, cols = stream.cols;
  const Index bytes =
      checked_bytes(rows, cols, static_cast<std::size_t>(bytes_of(source.number())));
  if (bytes > hold_at_most) {
    auto some = std::make_shared<SomeNarrowRows>(all, stream.source.get(), first);
    const StreamView<float> view{some.get(), rows, cols};
    return {.keep = std::move(some), .view = view};
  }
  auto own = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(bytes));
  if (rows > 0) source.read_stored(first, last, own->data());
  const NarrowView view{.numbers = own->data(),
                        .number = source.number(),
                        .rows = rows,
                        .cols = cols,
                        .stride = cols};
  return {.keep = std::move(own), .view = view};
}

template <class T>
RowsHere copy_or_stream(std::shared_ptr<const Dataset> all, Index first, Index last,
                        Index hold_at_most) {
  const auto& stream = std::get<StreamedMatrix<T>>(all->points);
  const Index rows = last - first, cols = stream.cols;
  if (checked_bytes(rows, cols, sizeof(T)) > hold_at_most) {
    auto some = std::make_shared<SomeRows<T>>(all, stream.source.get(), first);
    const StreamView<T> view{some.get(), rows, cols};
    return {.keep = std::move(some), .view = view};
  }
  auto own = std::make_shared<std::vector<T>>(static_cast<std::size_t>(rows * cols));
  if (rows > 0) stream.source->read(first, last, own->data());
  const MatrixView<const T> view(own->data(), rows, cols);
  return {.keep = std::move(own), .view = view};
}

}  // namespace

Result<std::vector<std::string>> files_named(const std::string& pattern) {
  if (pattern.find_first_of("*?[") == std::string::npos) return std::vector<std::string>{pattern};
  glob_t found{};
  const int code = ::glob(pattern.c_str(), 0, nullptr, &found);  // sorted
  std::vector<std::string> paths;
  for (std::size_t p = 0; code == 0 && p < found.gl_pathc; ++p)
    paths.emplace_back(found.gl_pathv[p]);
  ::globfree(&found);
  if (paths.empty())
    return Failure{
        fmt::format("{}: no file has such a name; look at the folder, or put the "
                    "pattern into quotes",
                    in_quotes(pattern))};
  std::sort(paths.begin(), paths.end());  // the same on every machine, whatever its language
  return paths;
}

namespace {

Result<std::vector<Dataset>> open_all(const std::vector<std::string>& paths,
                                      const ReadOptions& options) {
  std::vector<Dataset> parts;
  for (const std::string& path : paths) {
    Result<Dataset> part = open_stream(path, options);
    if (!part) return part.error();
    parts.push_back(std::move(*part));
  }
  if (parts.empty()) return Failure{"there is no file to read"};
  return parts;
}

Result<Dataset> join_all(std::vector<Dataset> parts) {
  if (are_narrow(parts)) return join<float, JoinedNarrowRows>(std::move(parts));
  return is_single(parts.front().view()) ? join<float>(std::move(parts))
                                         : join<double>(std::move(parts));
}

/// Rows first .. last of one file, where it has the numbers as they are needed.
std::optional<RowsHere> map_rows(const Dataset& part, const std::string& path, Index first,
                                 Index last) {
  const bool as_needed = part.notes.empty() && (part.type == "float32" || part.type == "float64");
  if (!as_needed) return std::nullopt;
  Result<Dataset> whole = read_dataset(path);
  if (!whole) return std::nullopt;  // told by who reads it as a stream
  const bool mapped = std::holds_alternative<MappedMatrix<float>>(whole->points) ||
                      std::holds_alternative<MappedMatrix<double>>(whole->points);
  if (!mapped) return std::nullopt;
  auto keep = std::make_shared<const Dataset>(std::move(*whole));
  return RowsHere{.keep = keep,
                  .view = std::visit(
                      [&](auto v) -> PointsView {
                        if constexpr (requires { v.data; })
                          v.data += first * v.stride, v.rows = last - first;
                        return v;
                      },
                      keep->view())};
}

}  // namespace

Result<Dataset> join_files(const std::vector<std::string>& paths, const ReadOptions& options) {
  Result<std::vector<Dataset>> parts = open_all(paths, options);
  if (!parts) return parts.error();
  return join_all(std::move(*parts));
}

Result<RowsHere> read_rows(const std::vector<std::string>& paths, Index first, Index last,
                           Index hold_at_most) {
  Result<std::vector<Dataset>> parts = open_all(paths, {});
  if (!parts) return parts.error();
  Index before = 0;
  for (std::size_t p = 0; p < parts->size(); ++p) {
    const PointsView view = (*parts)[p].view();
    const Index row = cols_of(view) * (is_single(view) ? 4 : 8), end = before + rows_of(view);
    if (first >= before && last <= end && last > first && (last - first) * row <= hold_at_most)
      if (auto mapped = map_rows((*parts)[p], paths[p], first - before, last - before))
        return std::move(*mapped);
    before = end;
  }
  Result<Dataset> joined = join_all(std::move(*parts));
  if (!joined) return joined.error();
  if (last > rows_of(joined->view()))
    return Failure{fmt::format("{}: has {} rows, and {} were there before; was it changed?",
                               paths.back(), rows_of(joined->view()), last)};
  const auto all = std::make_shared<const Dataset>(std::move(*joined));
  if (narrow_source(all->view())) return copy_or_stream_narrow(all, first, last, hold_at_most);
  return is_single(all->view()) ? copy_or_stream<float>(all, first, last, hold_at_most)
                                : copy_or_stream<double>(all, first, last, hold_at_most);
}

}  // namespace fwsr
