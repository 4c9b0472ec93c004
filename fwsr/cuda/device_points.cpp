#include "fwsr/cuda/device_points.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/base/typical.hpp"
#include "fwsr/cuda/statistics.hpp"

namespace fwsr::cuda {

namespace {

constexpr Index piece = 16;  // bytes

/// Memory that the card reads by itself while the processor fills another part of it.
class Pinned {
 public:
  explicit Pinned(Index bytes) {
    if (cudaMallocHost(&data_, static_cast<std::size_t>(bytes)) == cudaSuccess) return;
    cudaGetLastError();
    throw MemoryError(
        fmt::format("{} of the memory of this machine, which the card reads by itself, were needed "
                    "for copies, and not to be had; end what else uses it",
                    format_bytes(static_cast<double>(bytes))));
  }
  ~Pinned() { cudaFreeHost(data_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  unsigned char* get() const { return static_cast<unsigned char*>(data_); }

 private:
  void* data_ = nullptr;
};

/// What was sent so far has arrived.
class Event {
 public:
  Event() {
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "copying to the card");
  }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// `put(row, own)` writes a row's numbers, `cols` of type T.
template <class T, class Put>
void copy_rows(Device& device, Index cols, std::span<const Index> subset, Index count, Index stride,
               unsigned char* to, int threads, const Put& put) {
  const Index row_bytes = stride * static_cast<Index>(sizeof(T));
  const Index at_once =
      std::clamp<Index>((Index{32} << 20) / row_bytes, 1, std::max<Index>(1, count));
  const Pinned room(2 * at_once * row_bytes);
  const Event sent[2];
  for (Index first = 0, turn = 0; first < count; first += at_once, ++turn) {
    const Index rows = std::min(at_once, count - first);
    unsigned char* const part = room.get() + turn % 2 * at_once * row_bytes;
    if (turn >= 2) check(cudaEventSynchronize(sent[turn % 2].get()), "copying to the card");
    for_blocks(threads_for(threads, static_cast<double>(rows * cols)), rows,
               [&](Index, Index begin, Index end) {
                 for (Index i = begin; i < end; ++i) {
                   const Index row = subset.empty() ? first + i : subset[at(first + i)];
                   auto* const own = reinterpret_cast<T*>(part + i * row_bytes);
                   put(row, own);
                   std::fill(own + cols, own + stride, T{});
                 }
               });
    check(cudaMemcpyAsync(to + first * row_bytes, part, at(rows * row_bytes),
                          cudaMemcpyHostToDevice, device.stream()),
          "copying points to the card");
    check(cudaEventRecord(sent[turn % 2].get(), device.stream()), "copying to the card");
  }
  device.wait();
}

}  // namespace

Stored Stored::room(Device& device, Number number, Index rows, Index features) {
  const Index size = bytes_of(number);
  Stored stored;
  stored.number = number;
  stored.rows = rows;
  stored.features = features;
  stored.stride = (features * size + piece - 1) / piece * piece / size;
  stored.whole_pieces = true;
  stored.own = Array<unsigned char>(device, rows * stored.stride * size);
  stored.data = stored.own.get();
  return stored;
}

std::shared_ptr<const Stored> Stored::copy(Device& device, const PointsView& points,
                                           std::span<const Index> subset, int threads) {
  auto stored = std::make_shared<Stored>();
  std::visit(
      [&](const auto& v) {
        if constexpr (requires { v.data; }) {
          using T = std::decay_t<decltype(*v.data)>;
          *stored = room(device, sizeof(T) == 4 ? Number::float32 : Number::float64,
                         subset.empty() ? v.rows : std::ssize(subset), v.cols);
          copy_rows<T>(device, v.cols, subset, stored->rows, stored->stride, stored->own.get(),
                       threads, [&](Index row, T* own) {
                         std::memcpy(own, v.data + row * v.stride, at(v.cols) * sizeof(T));
                       });
        } else if constexpr (requires { v.numbers; }) {
          const Index rows = subset.empty() ? v.rows : std::ssize(subset);
          const auto copy_as = [&]<class T>(T, Number number, const auto& put) {
            *stored = room(device, number, rows, v.cols);
            copy_rows<T>(device, v.cols, subset, rows, stored->stride, stored->own.get(), threads,
                         put);
          };
          const auto bits = [&](Index row, std::uint16_t* own) {
            std::memcpy(own, v.address(row), at(v.cols) * sizeof *own);
          };
          if (v.number == NarrowNumber::float16)
            copy_as(std::uint16_t{}, Number::float16, bits);
          else if (v.number == NarrowNumber::bfloat16)
            copy_as(std::uint16_t{}, Number::bfloat16, bits);
          else
            copy_as(float{}, Number::float32,
                    [&](Index row, float* own) { v.read(row, row + 1, own); });
        } else {
          throw Error(
              "the card takes dense points in memory; give sparse and streamed ones to device cpu");
        }
      },
      points);
  return stored;
}

namespace {

std::shared_ptr<Stored> rows_of_view(const DeviceView& points) {
  auto stored = std::make_shared<Stored>();
  stored->data = points.data;
  stored->number = points.number == DeviceNumber::float32   ? Number::float32
                   : points.number == DeviceNumber::float64 ? Number::float64
                   : points.number == DeviceNumber::float16 ? Number::float16
                                                            : Number::bfloat16;
  stored->rows = points.rows;
  stored->features = points.cols;
  stored->stride = points.stride;
  const Index size = bytes_of(stored->number);
  stored->whole_pieces = reinterpret_cast<std::uintptr_t>(points.data) % piece == 0 &&
                         points.stride * size % piece == 0 && points.cols * size % piece == 0;
  return stored;
}

/// From now on the card reads these bytes by itself; until the answer is dropped, unless others had seen to that before.
std::shared_ptr<void> held_in_place(const void* data, Index bytes) {
  void* const memory = const_cast<void*>(data);  // NOLINT: nothing is written
  const cudaError_t status =
      cudaHostRegister(memory, static_cast<std::size_t>(bytes), cudaHostRegisterMapped);
  if (status == cudaSuccess) return {memory, [](void* held) { cudaHostUnregister(held); }};
  cudaGetLastError();
  if (status == cudaErrorHostMemoryAlreadyRegistered) return {};
  throw MemoryError(fmt::format(
      "the points do not fit the card, and the {} that they take of this machine cannot be held in "
      "place for it to read them there ({}); use device cpu, or give an array in memory that can "
      "be written to, and not a mapped file",
      format_bytes(static_cast<double>(bytes)), cudaGetErrorString(status)));
}

}  // namespace

std::shared_ptr<const Stored> Stored::in_place(const PointsView& points) {
  std::shared_ptr<void> registered;
  DeviceView view;
  std::visit(
      [&](const auto& v) {
        if constexpr (requires { v.data; }) {
          using T = std::decay_t<decltype(*v.data)>;
          const Index bytes = ((v.rows - 1) * v.stride + v.cols) * static_cast<Index>(sizeof(T));
          registered = held_in_place(v.data, bytes);
          void* there = nullptr;
          check(cudaHostGetDevicePointer(&there, const_cast<T*>(v.data), 0),  // NOLINT: as above
                "asking where the card sees the points");
          view = {.data = there,
                  .number = sizeof(T) == 4 ? DeviceNumber::float32 : DeviceNumber::float64,
                  .rows = v.rows,
                  .cols = v.cols,
                  .stride = v.stride};
        } else if constexpr (requires { v.numbers; }) {
          throw MemoryError(fmt::format(
              "the points do not fit the card, and {} numbers cannot be read there from this "
              "machine's memory; use device cpu, or give them as float32",
              name_of(v.number)));
        } else {
          throw Error(
              "the card takes dense points in memory; give sparse and streamed ones to device cpu");
        }
      },
      points);
  std::shared_ptr<Stored> stored = rows_of_view(view);
  stored->on_host = true;
  stored->registered = std::move(registered);
  return stored;
}

std::shared_ptr<const Stored> Stored::borrow(const DeviceView& points) {
  return rows_of_view(points);
}

DevicePoints::DevicePoints(Device& device, std::shared_ptr<const Stored> stored,
                           std::span<const Index> subset, const Preprocessing& prep)
    : device_(device),
      stored_(std::move(stored)),
      subset_(subset.begin(), subset.end()),
      size_(subset.empty() ? stored_->rows : std::ssize(subset)),
      prep_(prep) {
  if (!subset_.empty()) sources_ = Array<Index>(device, std::span<const Index>(subset_));
  squares_ = Array<double>(device, size_);
  if (prep.scale == Scale::unit) {
    inner_ = Array<double>(device, size_);
    launch_set(device, inner_.get(), size_, 1.0);
  }
  if (prep.center == Center::point) {
    mean_ = Array<double>(device, size_);
    mean_.set_to_zero();
  }
}

DevicePoints::DevicePoints(const DevicePoints& other, double eta, bool eta_relative)
    : device_(other.device_),
      stored_(other.stored_),
      subset_(other.subset_),
      size_(other.size_),
      prep_(other.prep_),
      scale_(other.scale_),
      means_norm_(other.means_norm_),
      shared_(other.shared_) {
  if (!subset_.empty()) sources_ = Array<Index>(device_, std::span<const Index>(subset_));
  for (auto [from, to] : {std::pair{&other.weights_, &weights_},
                          {&other.means_, &means_},
                          {&other.inner_, &inner_},
                          {&other.mean_, &mean_},
                          {&other.outer_, &outer_},
                          {&other.squares_, &squares_}})
    *to = clone(*from);
  const double back = 1 / other.common_;  // a power of two
  if (!outer_.empty()) launch_scale(device_, outer_.get(), size_, back);
  launch_scale(device_, squares_.get(), size_, back * back);
  prep_.eta = eta;
  prep_.eta_relative = eta_relative;
}

DevicePoints::DevicePoints(const DevicePoints& other, std::span<const Index> some)
    : device_(other.device_),
      stored_(other.stored_),
      size_(std::ssize(some)),
      prep_(other.prep_),
      scale_(other.scale_),
      common_(other.common_),
      unit_(other.unit_),
      eta_(other.eta_),
      rms_norm_(other.rms_norm_),
      means_norm_(other.means_norm_),
      shared_(other.shared_),
      weights_(clone(other.weights_)),
      means_(clone(other.means_)) {
  for (const Index i : some) subset_.push_back(other.source(i));
  sources_ = Array<Index>(device_, std::span<const Index>(subset_));
  const Array<Index> places(device_, some);
  for (auto [from, to] : {std::pair{&other.inner_, &inner_},
                          {&other.mean_, &mean_},
                          {&other.outer_, &outer_},
                          {&other.squares_, &squares_}})
    if (!from->empty()) *to = gathered(*from, places);
}

Array<double> DevicePoints::clone(const Array<double>& from) const {
  Array<double> to(device_, from.size());
  if (!from.empty())
    check(cudaMemcpyAsync(to.get(), from.get(), at(from.size()) * sizeof(double),
                          cudaMemcpyDeviceToDevice, device_.stream()),
          "copying on the card");
  return to;
}

Rows DevicePoints::rows() const {
  return {.data = stored_->data,
          .number = stored_->number,
          .stride = stored_->stride,
          .size = size_,
          .features = stored_->features,
          .whole_pieces = stored_->whole_pieces,
          .source = sources_.get(),
          .weights = weights_.get(),
          .means = means_.get(),
          .inner = inner_.get(),
          .mean = mean_.get(),
          .outer = outer_.get(),
          .every_inner = scale_,
          .every_outer = common_,
          .eta = eta_};
}

void DevicePoints::adopt(const Common& common) {
  const auto features = at(stored_->features);
  const auto put = [&](const std::vector<double>& numbers) {
    return numbers.empty()
               ? Array<double>()
               : Array<double>(device_, std::span<const double>(numbers).first(features));
  };
  shared_ = common;
  scale_ = common.scale;
  weights_ = put(common.weights);
  means_ = put(common.means);
  means_norm_ = 0;
  for (const double m : common.means) means_norm_ += m * m;
  means_norm_ = std::sqrt(means_norm_);
}

// ---------------------------------------------------------------------------- what they say about themselves

void DevicePoints::refuse_not_finite(Index i) const {
  const std::vector<double> row = stored_of({&i, 1});
  for (std::size_t l = 0; l < row.size(); ++l)
    if (!std::isfinite(row[l]))
      throw Error(fmt::format(
          "point {} has {} in feature {} (both counted from 0); remove the point or fill in the "
          "value",
          source(i), std::isnan(row[l]) ? "NaN" : "an infinite value", l));
  throw Error(
      fmt::format("point {} changed while it was read; leave the data alone until the work "
                  "is done",
                  source(i)));
}

ScanPoints::Reply DevicePoints::answer(const ScanPoints& question) {
  const bool centred = question.numbers && !mean_.empty();
  Array<double> largest(device_, size_), means;
  Rows plain = rows();
  plain.inner = nullptr, plain.every_inner = 1;
  const PointSums sums{
      .largest = largest.get(), .mean = centred ? mean_.get() : nullptr, .squares = squares_.get()};
  launch_row_sums(device_, plain, sums);
  const Scan found = scan(device_, plain, sums, centred);
  if (found.first_bad >= 0) refuse_not_finite(found.first_bad);
  ScanPoints::Reply reply{
      .largest = found.largest, .largest_other = found.largest_other, .records = {}};
  if (found.first_constant >= 0)
    reply.records.push_back(
        {.largest_other = found.largest_other,
         .largest = found.constant,
         .first = source(found.first_constant),
         .value = stored_of(std::span<const Index>(&found.first_constant, 1)).front()});
  return reply;
}

SumFeatures::Reply DevicePoints::answer(const SumFeatures& question) {
  adopt(question.common);
  const bool squared = question.of == SumFeatures::Of::deviations;
  std::vector<double> sums = feature_sums(device_, rows(), squared);
  if (squared) {
    const auto d = sums.size();
    sums.resize(3 * d);
    std::fill_n(sums.begin() + static_cast<Index>(d), d, static_cast<double>(size_));
  }
  return {std::move(sums)};
}

FindNumbers::Reply DevicePoints::answer(const FindNumbers& question) {
  adopt(question.common);
  if (question.scanned) {
    if (!mean_.empty()) launch_scale(device_, mean_.get(), size_, scale_);
    launch_scale(device_, squares_.get(), size_, scale_ * scale_);
  } else {
    if (!inner_.empty()) launch_unit_norms(device_, rows(), scale_, inner_.get());
    launch_row_sums(device_, rows(), {.mean = mean_.get(), .squares = squares_.get()});
  }
  return {.some = some_of(squares_, typical_places(size_), 0.0),
          .largest = size_ > 0 ? largest_of(device_, squares_.get(), size_) : 0.0};
}

FindHuge::Reply DevicePoints::answer(const FindHuge& question) {
  const Index i = first_beyond(device_, squares_.get(), size_, huge_beyond(question.median));
  if (i < 0) return {};
  FindHuge::Reply reply{.point = source(i), .square = some_of(squares_, {&i, 1}, 0.0).front()};
  const std::vector<double> row = stored_of({&i, 1});
  for (std::size_t l = 0; l < row.size(); ++l)
    if (std::abs(row[l]) > std::abs(reply.value))
      reply.feature = static_cast<Index>(l), reply.value = row[l];
  return reply;
}

DropConstant::Reply DevicePoints::answer(const DropConstant& question) {
  if (outer_.empty()) {
    outer_ = Array<double>(device_, size_);
    launch_set(device_, outer_.get(), size_, 1.0);
  }
  DropLimits limits;
  if (question.scaled) {
    limits.rounding = 4 * std::numeric_limits<double>::epsilon();
  } else {
    constexpr double digits = 0x1p20;
    const double longest = std::sqrt(question.longest);
    limits.by_limit = true;
    limits.limit = single() && longest > 0
                       ? digits * longest / std::sqrt(static_cast<double>(features()))
                       : std::numeric_limits<double>::infinity();
  }
  launch_drop(device_, limits, features(), size_, mean_.get(), outer_.get(), squares_.get());
  return size_ > 0 ? largest_of(device_, squares_.get(), size_) : 0.0;
}

Told DevicePoints::answer(const NormalizePoints&) {
  if (outer_.empty()) outer_ = Array<double>(device_, size_);
  launch_normalize(device_, size_, outer_.get(), squares_.get());
  return {};
}

SumSquares::Reply DevicePoints::answer(const SumSquares&) {
  return {.sums = {sum_of(device_, squares_.get(), size_)},
          .largest = size_ > 0 ? largest_of(device_, squares_.get(), size_) : 0.0};
}

Told DevicePoints::answer(const SetScale& question) {
  common_ = question.common;
  unit_ = question.unit;
  eta_ = question.eta;
  rms_norm_ = question.rms_norm;
  if (!outer_.empty()) launch_scale(device_, outer_.get(), size_, common_);
  launch_scale(device_, squares_.get(), size_, common_ * common_);
  return {};
}

// ------------------------------------------------------------------------------------------- some of them

std::vector<double> DevicePoints::some_of(const Array<double>& numbers,
                                          std::span<const Index> which, double otherwise) const {
  if (numbers.empty()) return std::vector<double>(which.size(), otherwise);
  return gathered(numbers, Array<Index>(device_, which)).get_all();
}

Array<double> DevicePoints::gathered(const Array<double>& from, const Array<Index>& places) const {
  // A column of numbers is a matrix of one stored feature.
  Array<double> out(device_, places.size());
  launch_gather_stored(device_,
                       {.data = from.get(),
                        .number = Number::float64,
                        .stride = 1,
                        .size = from.size(),
                        .features = 1},
                       places.get(), places.size(), out.get());
  return out;
}

std::vector<double> DevicePoints::stored_of(std::span<const Index> which) const {
  const Array<Index> places(device_, which);
  Array<double> out(device_, std::ssize(which) * features());
  launch_gather_stored(device_, rows(), places.get(), std::ssize(which), out.get());
  return out.get_all();
}

DevicePoints::Few DevicePoints::few(std::span<const Index> which) const {
  if (which.empty()) return {};
  const Index width = dim() + own_numbers;
  const Array<Index> places(device_, which);
  Array<double> out(device_, std::ssize(which) * width);
  launch_gather(device_, rows(), squares_.get(), places.get(), std::ssize(which), out.get());
  const std::vector<double> told = out.get_all();
  const double root = std::sqrt(static_cast<double>(features()));
  Few few;
  few.rows.reserve(which.size() * at(dim()));
  for (auto from = told.begin(); from != told.end(); from += width) {
    const auto own = from + dim();  // square, inner, mean, outer
    few.rows.insert(few.rows.end(), from, own);
    few.squares.push_back(own[0]);
    few.numbers.insert(few.numbers.end(), {own[1], own[2], own[3], own[0], 0.0});
    few.taken_away.push_back(own[3] * (root * std::abs(own[2]) + means_norm_));
  }
  return few;
}

PointCopies DevicePoints::copies(std::span<const Index> which) const {
  PointCopies copies{.which = {},
                     .sparse = false,
                     .single = single(),
                     .features = features(),
                     .values = which.empty() ? std::vector<double>() : stored_of(which),
                     .columns = {},
                     .lengths = std::vector<Index>(which.size(), features()),
                     .numbers = {},
                     .prep = prep_,
                     .common = shared_,
                     .factor = common_,
                     .unit = unit_,
                     .eta = eta_,
                     .rms_norm = rms_norm_};
  for (std::size_t w = 0; w < which.size(); ++w) copies.which.push_back(static_cast<Index>(w));
  copies.numbers = few(which).numbers;
  return copies;
}

}  // namespace fwsr::cuda
