#include "python/bindings/points.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/check_view.hpp"
#include "fwsr/base/file_watch.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/data/binary.hpp"
#include "fwsr/data/read.hpp"
#include "fwsr/data/streamed.hpp"

namespace fwsr::python {

namespace {

template <class T>
MatrixView<const T> dense_view(const Array& a) {
  const auto rows = static_cast<Index>(a.shape(0)), cols = static_cast<Index>(a.shape(1));
  // NumPy gives any stride to an axis of one element, and to all of an empty array.
  const Index stride = rows > 1 ? static_cast<Index>(a.stride(0)) : cols;
  if (rows > 0 && ((cols > 1 && a.stride(1) != 1) || stride < cols))
    throw Error("the rows of the matrix are not contiguous");
  return MatrixView<const T>{static_cast<const T*>(a.data()), rows, cols, stride};
}

template <class T>
NarrowView narrow_rows(const Array& a, NarrowNumber number) {
  const auto rows = dense_view<T>(a);
  return {.numbers = rows.data,
          .number = number,
          .rows = rows.rows,
          .cols = rows.cols,
          .stride = rows.stride};
}

void require_vector(const Array& a, const char* what) {
  if (a.ndim() != 1 || (a.shape(0) > 1 && a.stride(0) != 1))
    throw Error(fmt::format("{} of the sparse matrix must be a contiguous vector", what));
}

template <class T, class I>
PointsView sparse_view(const Array& values, const Array& columns, const Array& starts,
                       Index features) {
  const CsrView<T, I> view{.rows = static_cast<Index>(starts.shape(0)) - 1,
                           .cols = features,
                           .starts = static_cast<const I*>(starts.data()),
                           .columns = static_cast<const I*>(columns.data()),
                           .values = static_cast<const T*>(values.data())};
  check_entries(view, static_cast<Index>(values.shape(0)));
  return view;
}

template <class I>
PointsView sparse_view(const Array& values, const Array& columns, const Array& starts,
                       Index features) {
  if (values.dtype() == nb::dtype<float>())
    return sparse_view<float, I>(values, columns, starts, features);
  if (values.dtype() == nb::dtype<double>())
    return sparse_view<double, I>(values, columns, starts, features);
  throw Error("sparse points must be float32 or float64");
}

NumberType number_type(const std::string& name) {
  using enum NumberKind;
  for (const bool big : {false, true})
    for (const NumberType type :
         {NumberType{boolean, 1}, NumberType{signed_integer, 1}, NumberType{signed_integer, 2},
          NumberType{signed_integer, 4}, NumberType{signed_integer, 8},
          NumberType{unsigned_integer, 1}, NumberType{unsigned_integer, 2},
          NumberType{unsigned_integer, 4}, NumberType{unsigned_integer, 8}, NumberType{floating, 2},
          NumberType{floating, 4}, NumberType{floating, 8}, NumberType{bfloat, 2}})
      if (name == (big ? ">" : "") + name_of(type)) return {type.kind, type.size, big};
  throw Error(fmt::format("numbers of type {} cannot be read from a file in blocks", name));
}

}  // namespace

GivenPoints dense_points(const Array& matrix, bool bfloat16) {
  if (matrix.ndim() != 2)
    throw Error(fmt::format("a matrix is needed, got {} dimensions", matrix.ndim()));
  const nb::dlpack::dtype type = matrix.dtype();
  if (bfloat16 && type == nb::dtype<std::uint16_t>())
    return {narrow_rows<std::uint16_t>(matrix, NarrowNumber::bfloat16), {matrix}};
  if (type == nb::dtype<float>()) return {dense_view<float>(matrix), {matrix}};
  if (type == nb::dtype<double>()) return {dense_view<double>(matrix), {matrix}};
  if (type == nb::dtype<std::uint8_t>())
    return {narrow_rows<std::uint8_t>(matrix, NarrowNumber::uint8), {matrix}};
  if (type == nb::dtype<std::int8_t>())
    return {narrow_rows<std::int8_t>(matrix, NarrowNumber::int8), {matrix}};
  if (type == nb::dtype<std::uint16_t>())
    return {narrow_rows<std::uint16_t>(matrix, NarrowNumber::uint16), {matrix}};
  if (type == nb::dtype<std::int16_t>())
    return {narrow_rows<std::int16_t>(matrix, NarrowNumber::int16), {matrix}};
  if (type == nb::dlpack::dtype{static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float), 16, 1})
    return {narrow_rows<std::uint16_t>(matrix, NarrowNumber::float16), {matrix}};
  throw Error(
      "dense points must be float32, float64, float16, bfloat16, or integers of 8 or 16 bits");
}

GivenPoints sparse_points(const Array& values, const Array& columns, const Array& starts,
                          Index features) {
  require_vector(values, "the values");
  require_vector(columns, "the columns");
  require_vector(starts, "the row starts");
  if (starts.shape(0) < 1) throw Error("the sparse matrix has no row starts");
  if (values.shape(0) != columns.shape(0))
    throw Error(fmt::format("the sparse matrix has {} values, but {} column numbers",
                            values.shape(0), columns.shape(0)));
  if (columns.dtype() != starts.dtype())
    throw Error("the indices of the sparse matrix are of two types");
  std::vector<Array> kept = {values, columns, starts};
  if (columns.dtype() == nb::dtype<std::int32_t>())
    return {sparse_view<std::int32_t>(values, columns, starts, features), std::move(kept)};
  if (columns.dtype() == nb::dtype<std::int64_t>())
    return {sparse_view<std::int64_t>(values, columns, starts, features), std::move(kept)};
  throw Error("the indices of sparse points must be of 32 or 64 bits");
}

GivenPoints file_points(const std::string& path, const std::string& type, Index rows, Index cols,
                        Index offset) {
  const StoredMatrix stored{.type = number_type(type), .rows = rows, .cols = cols};
  const Index bytes = checked_bytes(rows, cols, static_cast<std::size_t>(stored.type.size));
  auto file = FileBytes::open(path);
  if (!file) throw Error(file.error().message);
  const auto size = static_cast<Index>(file->bytes().size());
  if (offset < 0 || offset > size || bytes > size - offset)
    throw Error(fmt::format("{}: holds {} bytes; {} from byte {} on were asked for", path, size,
                            bytes, offset));
  Dataset data;
  data.name = path;
  data.watch = file->watch();
  const auto streamed = stream_points(*file, stored, offset, {.hold_at_most = 0}, data);
  if (!streamed) throw Error(streamed.error().message);
  if (!*streamed) throw Error(fmt::format("{}: cannot be read in blocks", path));
  return dataset_points(std::move(data));
}

const PointsView& GivenPoints::here() const {
  if (there)
    throw Error(
        "the points are on a card, where this cannot be done; move them to the CPU's memory, as in "
        "X.cpu() or X.get()");
  return view;
}

namespace {

GivenPoints card_view(const DeviceView& view) {
  wait_for_card(view.device);
  GivenPoints points;
  points.there = view;
  return points;
}

}  // namespace

GivenPoints card_points(const CardArray& a) {
  if (a.ndim() != 2)
    throw Error(
        fmt::format("the array on the card has {} axes, and points are rows of numbers", a.ndim()));
  const nb::dlpack::dtype type = a.dtype();
  const auto code = static_cast<nb::dlpack::dtype_code>(type.code);
  DeviceView view{.data = a.data(),
                  .rows = static_cast<Index>(a.shape(0)),
                  .cols = static_cast<Index>(a.shape(1)),
                  .device = a.device_id()};
  view.stride = view.rows > 1 ? static_cast<Index>(a.stride(0)) : view.cols;
  if (code == nb::dlpack::dtype_code::Float && type.bits == 32)
    view.number = DeviceNumber::float32;
  else if (code == nb::dlpack::dtype_code::Float && type.bits == 64)
    view.number = DeviceNumber::float64;
  else if (code == nb::dlpack::dtype_code::Float && type.bits == 16)
    view.number = DeviceNumber::float16;
  else if (code == nb::dlpack::dtype_code::Bfloat && type.bits == 16)
    view.number = DeviceNumber::bfloat16;
  else if (code == nb::dlpack::dtype_code::UInt && type.bits <= 16)
    view.number = type.bits == 8 ? DeviceNumber::uint8 : DeviceNumber::uint16;
  else if (code == nb::dlpack::dtype_code::Int && type.bits <= 16)
    view.number = type.bits == 8 ? DeviceNumber::int8 : DeviceNumber::int16;
  else
    throw Error(
        "points on a card are float16, bfloat16, float32, float64, or integers of 8 or 16 bits; "
        "convert them there");
  if (view.rows > 0 && ((view.cols > 1 && a.stride(1) != 1) || view.stride < view.cols))
    throw Error(
        "points on a card are stored row by row; make a copy that is, as in X.contiguous()");
  GivenPoints points = card_view(view);
  points.on_card = a;
  return points;
}

GivenPoints card_points_at(std::uintptr_t address, const std::string& type, Index rows, Index cols,
                           Index stride, int device) {
  DeviceView view{.data = reinterpret_cast<const void*>(address),
                  .rows = rows,
                  .cols = cols,
                  .stride = stride,
                  .device = device};
  constexpr std::pair<const char*, DeviceNumber> types[] = {
      {"float16", DeviceNumber::float16}, {"float32", DeviceNumber::float32},
      {"float64", DeviceNumber::float64}, {"uint8", DeviceNumber::uint8},
      {"int8", DeviceNumber::int8},       {"uint16", DeviceNumber::uint16},
      {"int16", DeviceNumber::int16}};
  const auto found = std::find_if(std::begin(types), std::end(types),
                                  [&](const auto& known) { return known.first == type; });
  if (found == std::end(types))
    throw Error(fmt::format(
        "points on a card are float16, float32, float64, or integers of 8 or 16 bits, and these "
        "are {}; convert them there",
        type));
  view.number = found->second;
  return card_view(view);
}

GivenPoints dataset_points(Dataset data) {
  GivenPoints points;
  points.file = std::move(data);
  points.view = points.file->view();
  return points;
}

void require_unchanged(const GivenPoints& points) {
  if (points.file && points.file->watch)
    if (const auto change = points.file->watch->find_change()) throw Error(*change);
}

}  // namespace fwsr::python
