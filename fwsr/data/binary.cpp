#include "fwsr/data/binary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/files.hpp"
#include "fwsr/base/let_go.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/narrow.hpp"
#include "fwsr/base/system_memory.hpp"

namespace fwsr {

namespace {

/// Numbers converted at a time.
constexpr Index chunk = Index{1} << 16;

struct Bool {
  std::uint8_t byte;
};

float number(Float16 h) {
  return widened(h);
}
float number(BFloat16 h) {
  return widened(h);
}
int number(Bool b) {
  return b.byte != 0;
}
template <class S>
S number(S value) {
  return value;
}

template <class S>
S load(const std::byte* at, bool big_endian) {
  std::array<std::byte, sizeof(S)> raw;
  std::memcpy(raw.data(), at, sizeof(S));
  if (big_endian) std::reverse(raw.begin(), raw.end());
  S value;
  std::memcpy(&value, raw.data(), sizeof(S));
  return value;
}

/// work(S{}) for the type S in which `type` is stored.
template <class Work>
auto with_stored_type(const NumberType& type, Work&& work) {
  const Index size = type.size;
  switch (type.kind) {
    case NumberKind::boolean:
      return work(Bool{});
    case NumberKind::signed_integer:
      if (size == 1) return work(std::int8_t{});
      if (size == 2) return work(std::int16_t{});
      if (size == 4) return work(std::int32_t{});
      return work(std::int64_t{});
    case NumberKind::unsigned_integer:
      if (size == 1) return work(std::uint8_t{});
      if (size == 2) return work(std::uint16_t{});
      if (size == 4) return work(std::uint32_t{});
      return work(std::uint64_t{});
    case NumberKind::bfloat:
      return work(BFloat16{});
    case NumberKind::floating:
      break;
  }
  if (size == 2) return work(Float16{});
  if (size == 4) return work(float{});
  return work(double{});
}

/// True when `value` is an integer that float64 rounds.
template <class S>
bool loses_digits(S value) {
  if constexpr (std::is_integral_v<S> && sizeof(S) == 8) {
    constexpr auto limit = S{1} << 53;
    if constexpr (std::is_signed_v<S>)
      return value > limit || value < -limit;
    else
      return value > limit;
  } else {
    return false;
  }
}

/// Calls take(i, value) for i = 0 .. count - 1.
template <class S, class Take>
Result<Done> for_each_stored(const NumberType& type, Index count, const ByteSource& next,
                             Take&& take) {
  std::vector<std::byte> buffer(static_cast<std::size_t>(std::min(chunk, count)) * sizeof(S));
  for (Index first = 0; first < count; first += chunk) {
    const Index here = std::min(chunk, count - first);
    const auto piece = std::span(buffer).first(static_cast<std::size_t>(here) * sizeof(S));
    if (auto got = next(piece); !got) return got.error();
    for (Index i = 0; i < here; ++i)
      take(first + i, load<S>(piece.data() + i * Index{sizeof(S)}, type.big_endian));
  }
  return Done{};
}

/// Fills `values` (row by row) from numbers of type S; returns how many of them lost digits.
template <class S, class T>
Result<Index> fill(const std::string& name, const StoredMatrix& stored, const ByteSource& next,
                   std::vector<T>& values, MemoryShare& memory) {
  Index lossy = 0;
  const bool same = std::is_same_v<S, T> && !stored.type.big_endian;
  if (same && !stored.by_columns) {
    if (auto got = next(std::as_writable_bytes(std::span(values))); !got) return got.error();
    return lossy;
  }
  const auto put = [&](Index at, S raw) {
    const auto value = number(raw);
    lossy += loses_digits(value);
    if constexpr (std::is_same_v<S, T>)
      values[static_cast<std::size_t>(at)] = raw;
    else
      values[static_cast<std::size_t>(at)] = static_cast<T>(value);
  };
  if (!stored.by_columns) {
    auto done = for_each_stored<S>(stored.type, stored.rows * stored.cols, next, put);
    if (!done) return done.error();
    return lossy;
  }
  // Several columns at a time, so that each row is written in short runs and not one by one.
  const Index group = std::clamp<Index>(stored.cols / 32, 1, 16);
  const Index buffer_bytes = group * stored.rows * Index{sizeof(S)};
  if (auto refusal = memory.grow(name, buffer_bytes)) return *refusal;
  std::vector<std::byte> buffer(static_cast<std::size_t>(buffer_bytes));
  for (Index first = 0; first < stored.cols; first += group) {
    const Index here = std::min(group, stored.cols - first);
    const auto piece =
        std::span(buffer).first(static_cast<std::size_t>(here * stored.rows) * sizeof(S));
    if (auto got = next(piece); !got) return got.error();
    for (Index i = 0; i < stored.rows; ++i)
      for (Index j = 0; j < here; ++j)
        put(i * stored.cols + first + j,
            load<S>(piece.data() + (j * stored.rows + i) * Index{sizeof(S)},
                    stored.type.big_endian));
  }
  memory.shrink(buffer_bytes);
  return lossy;
}

/// Room for all numbers of `stored`, counted and on large pages.
template <class T>
std::optional<Failure> make_room(const std::string& name, const StoredMatrix& stored,
                                 std::vector<T>& values, MemoryShare& memory) {
  Index count = 0;
  Index bytes = 0;
  if (__builtin_mul_overflow(stored.rows, stored.cols, &count) ||
      __builtin_mul_overflow(count, Index{sizeof(T)}, &bytes))
    return Failure{
        fmt::format("{}: {} x {} numbers do not fit in memory", name, stored.rows, stored.cols)};
  if (auto refusal = memory.grow(name, bytes)) return refusal;
  values.reserve(static_cast<std::size_t>(count));
  prefer_large_pages(values.data(), bytes);
  touch_pages(values.data(), bytes);
  values.resize(static_cast<std::size_t>(count));
  return std::nullopt;
}

/// What was done to the numbers on their way to `held`.
void note_conversions(const StoredMatrix& stored, const std::string& held, Index bytes,
                      std::vector<std::string>& notes) {
  const std::string size = format_bytes(static_cast<double>(bytes));
  const bool swapped = stored.type.big_endian && stored.type.size > 1;
  if (swapped || name_of(stored.type) != held)
    notes.push_back(fmt::format("{}{} converted once to {} ({})", swapped ? "big-endian " : "",
                                name_of(stored.type), held, size));
  if (stored.by_columns && stored.rows > 1 && stored.cols > 1)
    notes.push_back(fmt::format("stored column by column, transposed once ({})", size));
}

template <class T>
Result<PointsStorage> read_as(const std::string& name, const StoredMatrix& stored,
                              const ByteSource& next, std::vector<std::string>& notes,
                              MemoryShare& memory) {
  DenseMatrix<T> points{stored.rows, stored.cols, {}};
  if (auto refusal = make_room(name, stored, points.values, memory)) return *refusal;
  const auto lossy = with_stored_type(stored.type, [&](auto s) {
    return fill<decltype(s)>(name, stored, next, points.values, memory);
  });
  if (!lossy) return lossy.error();
  note_conversions(stored, name_of({NumberKind::floating, sizeof(T), false}),
                   std::ssize(points.values) * Index{sizeof(T)}, notes);
  if (*lossy > 0)
    notes.push_back(fmt::format("{} value{} beyond 2^53 lost digits as float64", *lossy,
                                *lossy == 1 ? "" : "s"));
  return PointsStorage(std::move(points));
}

}  // namespace

namespace {

/// Numbers of type S, as which T are held: themselves, or booleans as bytes.
template <class S, class T>
Result<PointsStorage> read_narrow(const std::string& name, const StoredMatrix& stored,
                                  const ByteSource& next, std::vector<std::string>& notes,
                                  MemoryShare& memory) {
  const auto values = std::make_shared<std::vector<T>>();
  if (auto refusal = make_room(name, stored, *values, memory)) return *refusal;
  const auto done = fill<S>(name, stored, next, *values, memory);
  if (!done) return done.error();
  constexpr NarrowNumber number = NarrowNumberOf<T>::value;
  note_conversions(stored, name_of(number), std::ssize(*values) * Index{sizeof(T)}, notes);
  return PointsStorage(NarrowMatrix{.keep = values,
                                    .numbers = values->data(),
                                    .number = number,
                                    .rows = stored.rows,
                                    .cols = stored.cols});
}

}  // namespace

std::optional<NarrowNumber> narrow_number(const NumberType& type) {
  return with_stored_type(type, [](auto s) -> std::optional<NarrowNumber> {
    if constexpr (std::is_same_v<decltype(s), Bool>) return NarrowNumber::uint8;
    if constexpr (NarrowType<decltype(s)>) return NarrowNumberOf<decltype(s)>::value;
    return std::nullopt;
  });
}

std::string name_of_points(const NumberType& type) {
  const auto narrow = narrow_number(type);
  return narrow ? name_of(*narrow) : fits_single(type) ? "float32" : "float64";
}

Index bytes_of_points(const NumberType& type) {
  const auto narrow = narrow_number(type);
  return narrow ? bytes_of(*narrow) : fits_single(type) ? 4 : 8;
}

std::optional<PointsStorage> map_narrow_points(FileBytes& file, const StoredMatrix& stored,
                                               Index offset) {
  const auto number = narrow_number(stored.type);
  const bool by_columns = stored.by_columns && stored.rows > 1 && stored.cols > 1;
  const bool swapped = stored.type.big_endian && stored.type.size > 1;
  if (!number || stored.type.kind == NumberKind::boolean || by_columns || swapped ||
      offset % stored.type.size != 0)
    return std::nullopt;
  const auto keep = std::make_shared<const FileBytes>(std::move(file));
  const std::byte* const numbers = keep->bytes().data() + offset;
  return PointsStorage(NarrowMatrix{.keep = keep,
                                    .numbers = numbers,
                                    .number = *number,
                                    .rows = stored.rows,
                                    .cols = stored.cols,
                                    .mapped = keep->is_mapped()});
}

std::string name_of(const NumberType& type) {
  switch (type.kind) {
    case NumberKind::boolean:
      return "bool";
    case NumberKind::signed_integer:
      return fmt::format("int{}", 8 * type.size);
    case NumberKind::unsigned_integer:
      return fmt::format("uint{}", 8 * type.size);
    case NumberKind::bfloat:
      return "bfloat16";
    case NumberKind::floating:
      break;
  }
  return fmt::format("float{}", 8 * type.size);
}

bool fits_single(const NumberType& type) {
  return type.size <= (type.kind == NumberKind::floating ? 4 : 2);
}

template <class T>
void convert(const NumberType& type, const std::byte* from, Index count, T* out) {
  with_stored_type(type, [&](auto s) {
    using S = decltype(s);
    const auto all = [&](bool big_endian) {
      for (Index i = 0; i < count; ++i)
        out[i] = static_cast<T>(number(load<S>(from + i * Index{sizeof(S)}, big_endian)));
    };
    type.big_endian && sizeof(S) > 1 ? all(true) : all(false);
  });
}
template void convert<float>(const NumberType&, const std::byte*, Index, float*);
template void convert<double>(const NumberType&, const std::byte*, Index, double*);

ByteSource source_of(std::span<const std::byte> bytes, std::string name) {
  return [rest = bytes, whole = bytes.size(),
          name = std::move(name)](std::span<std::byte> out) mutable -> Result<Done> {
    if (out.size() > rest.size())
      return Failure{
          fmt::format("{}: is cut off: {} bytes expected, {} found; copy or save the file again",
                      name, whole - rest.size() + out.size(), whole)};
    copy_and_let_go(rest.first(out.size()), out);
    rest = rest.subspan(out.size());
    return Done{};
  };
}

Result<PointsStorage> read_points(const std::string& name, const StoredMatrix& stored,
                                  const ByteSource& next, std::vector<std::string>& notes,
                                  MemoryShare& memory) {
  if (narrow_number(stored.type))
    return with_stored_type(stored.type, [&]<class S>(S) -> Result<PointsStorage> {
      if constexpr (std::is_same_v<S, Bool>)
        return read_narrow<S, std::uint8_t>(name, stored, next, notes, memory);
      else if constexpr (NarrowType<S>)
        return read_narrow<S, S>(name, stored, next, notes, memory);
      else
        return Failure{name + ": is not of narrow numbers"};
    });
  return read_wide_points(name, stored, next, notes, memory);
}

Result<PointsStorage> read_wide_points(const std::string& name, const StoredMatrix& stored,
                                       const ByteSource& next, std::vector<std::string>& notes,
                                       MemoryShare& memory) {
  return fits_single(stored.type) ? read_as<float>(name, stored, next, notes, memory)
                                  : read_as<double>(name, stored, next, notes, memory);
}

Result<std::vector<std::int64_t>> read_integers(const std::string& name, const NumberType& type,
                                                Index count, const ByteSource& next,
                                                MemoryShare& memory) {
  if (type.kind == NumberKind::floating || type.kind == NumberKind::boolean ||
      type.kind == NumberKind::bfloat)
    return Failure{fmt::format("{}: holds {} where integers belong", name, name_of(type))};
  if (auto refusal = memory.grow(name, count, sizeof(std::int64_t))) return *refusal;
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  bool fits = true;
  const auto done = with_stored_type(type, [&](auto s) {
    return for_each_stored<decltype(s)>(type, count, next, [&](Index i, auto raw) {
      const auto value = number(raw);
      if constexpr (std::is_same_v<decltype(s), std::uint64_t>)
        fits = fits && value <= static_cast<std::uint64_t>(INT64_MAX);
      // An int8 is a number, and no character. NOLINTNEXTLINE(bugprone-signed-char-misuse)
      all[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(value);
    });
  });
  if (!done) return done.error();
  if (!fits) return Failure{fmt::format("{}: holds an integer beyond 2^63", name)};
  return all;
}

Result<std::vector<std::string>> read_number_labels(const std::string& name, const NumberType& type,
                                                    Index count, const ByteSource& next,
                                                    MemoryShare& memory) {
  if (auto refusal = memory.grow(name, count, sizeof(std::string))) return *refusal;
  std::vector<std::string> all(static_cast<std::size_t>(count));
  Index missing = -1;
  const auto done = with_stored_type(type, [&](auto s) {
    return for_each_stored<decltype(s)>(type, count, next, [&](Index i, auto raw) {
      const auto value = number(raw);
      std::string& label = all[static_cast<std::size_t>(i)];
      if constexpr (std::is_same_v<decltype(raw), Bool>) {
        label = value ? "True" : "False";
      } else if constexpr (std::is_floating_point_v<decltype(number(raw))>) {
        if (std::isnan(value) && missing < 0) missing = i;
        const bool whole = std::abs(value) < 0x1p53 && std::trunc(value) == value;
        label =
            whole ? fmt::format("{}", static_cast<std::int64_t>(value)) : fmt::format("{}", value);
      } else {
        label = fmt::format("{}", value);
      }
    });
  });
  if (!done) return done.error();
  if (missing >= 0)
    return Failure{
        fmt::format("{}: label {} (counted from 0) is not a number; give every point a "
                    "label",
                    name, missing)};
  return all;
}

std::optional<Failure> find_unusable_option(const std::string& name, const char* format,
                                            const ReadOptions& options, bool has_variables,
                                            bool has_ids) {
  const auto refuse = [&](const std::string& what, const char* remedy) {
    return Failure{fmt::format("{}: {} was asked for, but {} files have no such thing; {}", name,
                               what, format, remedy)};
  };
  if (!options.id_column.empty() && !has_ids)
    return refuse(fmt::format("id column '{}'", options.id_column), "leave it out");
  if (!options.columns.empty() || !options.exclude_columns.empty())
    return refuse("a choice of columns", "save the wanted columns as a file of their own");
  if (options.header != Header::automatic) return refuse("a header line", "leave it out");
  if (has_variables) return std::nullopt;
  if (!options.label_column.empty())
    return refuse(fmt::format("label column '{}'", options.label_column),
                  "give the labels in a file of their own");
  if (!options.variable.empty())
    return refuse(fmt::format("variable '{}'", options.variable), "leave it out");
  return std::nullopt;
}

std::string printable(std::string_view text) {
  std::string clean(text.substr(0, 64));
  for (char& c : clean)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text.size() > 64 ? clean + "..." : clean;
}

std::string list_names(const std::vector<std::string>& names, std::size_t limit) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < limit; ++i)
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", printable(names[i]));
  if (names.size() > limit) text += fmt::format(" and {} more", names.size() - limit);
  return text;
}

}  // namespace fwsr
