#include "fwsr/linalg/rates.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "fwsr/base/limits.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/large_array.hpp"
#include "fwsr/linalg/pass.hpp"

namespace fwsr {

namespace {

/// The least of a few: what else the machine does only adds.
template <class Work>
double seconds_of(const Work& work) {
  double least = 1;
  for (int again = 0; again < 4; ++again) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    least = std::min(least, std::max(taken.count(), 1e-7));
  }
  return least;
}

/// The sides of blocks as they are multiplied everywhere here.
template <class T>
double product_rate() {
  constexpr Index side = 160;
  const std::vector<T> a(side * side, T(0.5)), b(side * side, T(0.25));
  std::vector<T> c(side * side);
  const Product<T> product{
      .m = side, .n = side, .k = side, .left = a.data(), .right = b.data(), .out = c.data()};
  return 2.0 * side * side * side / seconds_of([&] { multiply(product); });
}

/// Rows one after the other, each with one vector or three: the loops of a pass over points.
class PassRows {
 public:
  PassRows(const float* numbers, Index count)
      : rows_(static_cast<std::size_t>(count)), with_(length, 0.5), out_(rows_.size()) {
    for (Index i = 0; i < count; ++i) rows_[static_cast<std::size_t>(i)] = numbers + i * length;
  }
  void with_three() { dots(rows(), with_.data(), with_.data(), with_.data(), x(), x(), x()); }
  void with_one() { dots(rows(), with_.data(), x()); }

  static constexpr Index length = 256;

 private:
  Rows<float> rows() const {
    return {.rows = rows_.data(), .count = static_cast<Index>(rows_.size()), .d = length};
  }
  double* x() { return out_.data(); }

  std::vector<const float*> rows_;
  std::vector<double> with_, out_;
};

Rates measured() {
  const SerialBlas serial;
  Rates r;
  constexpr Index few = 64, often = 8, many = 8192;  // 64 KiB and 8 MiB
  const std::vector<float> near(few * PassRows::length, 0.5f);
  PassRows cached(near.data(), few);
  r.loops = 6.0 * few * PassRows::length * often / seconds_of([&] {
              for (Index i = 0; i < often; ++i) cached.with_three();
            });
  // Where address space is limited products are guessed: OpenBLAS would ask for room for ever (blas_room.hpp).
  const bool limited = address_space_left().has_value();
  r.products = limited ? 4 * r.loops : product_rate<double>();
  r.single_products = limited ? 8 * r.loops : product_rate<float>();
  const LargeArray<float> far = make_large_array<float>(many * PassRows::length);
  const auto start = std::chrono::steady_clock::now();
  std::fill_n(far.get(), many * PassRows::length, 0.5f);
  const std::chrono::duration<double> filled = std::chrono::steady_clock::now() - start;
  constexpr double bytes = 4.0 * many * PassRows::length;
  r.fresh_bytes = bytes / std::max(filled.count(), 1e-7);
  PassRows streamed(far.get(), many);
  r.bytes = bytes / seconds_of([&] { streamed.with_one(); });
  // Handing out pages may have waited for others: no slower than a tenth of reading.
  r.fresh_bytes = std::max(r.fresh_bytes, r.bytes / 10);
  return r;
}

}  // namespace

const Rates& rates() {
  static const Rates known = measured();
  return known;
}

}  // namespace fwsr
