#include "fwsr/linalg/byte_gram.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "fwsr/base/at.hpp"
#include "fwsr/base/segments.hpp"
#include "fwsr/linalg/byte_table.hpp"
#include "fwsr/linalg/large_array.hpp"
#include "fwsr/linalg/processor.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace fwsr {

namespace {

constexpr Index digits = 3;  // of the sum of a row

const ByteLoops& loops() {
#if defined(__x86_64__)
  static const ByteLoops& chosen = has_byte_products()                    ? byte_vnni
                                   : instructions() >= Instructions::avx2 ? byte_avx2
                                                                          : byte_base;
  return chosen;
#else
  return byte_base;
#endif
}

Index panels_of(Index d) {
  return block_count(d + digits, byte_panel);
}

/// Sums of rows, packed for the products of a thousand of them.
class Sums {
 public:
  explicit Sums(const ByteRows& rows)
      : rows_(rows),
        panels_(panels_of(rows.d)),
        columns_(panels_ * byte_panel),
        packed_(make_large_array<std::uint8_t>(byte_rows_at_once * columns_)),
        products_(make_large_array<std::int32_t>(columns_ * columns_)),
        sums_(at(columns_)),
        line_(4 * at(columns_)) {}

  /// The sums of rows first .. last, which are no more than byte_rows_at_once.
  void make(Index first, Index last) {
    groups_ = block_count(last - first, 4);
    const std::byte* rows[byte_rows_at_once];
    rows_.fetch(first, last, rows, room_);
    for (Index g = 0; g < groups_; ++g)
      pack(rows + 4 * g, std::min<Index>(4, last - first - 4 * g), g);
    loops().sums(packed_.get(), groups_, panels_, sums_.data());
    loops().products(packed_.get(), groups_, panels_, sums_.data(), products_.get(), columns_);
    learn(static_cast<double>(last - first));
  }

  /// Adds them to `products`, which is dim x dim, and to `rows`, as sums over the points.
  void add_to(double* products, double* rows) const {
    const Index d = rows_.d, dim = d + (rows_.bordered ? 1 : 0);
    const double square = rows_.factor * rows_.factor, border = rows_.border;
    for (Index l = 0; l < d; ++l) {
      const std::int32_t* const from = products_.get() + l * columns_;
      double* const to = products + l * dim;
      loops().add({.sums = from + l,
                   .part = part_.data() + l,
                   .offset = offset_.data() + l,
                   .moved = moved_.data() + l,
                   .square = square,
                   .own = squares_ - part_[at(l)],
                   .f = plain_[at(l)],
                   .v = offset_[at(l)]},
                  d - l, to + l);
      if (rows_.bordered) to[d] += moved_[at(l)] * border;
      rows[l] += moved_[at(l)];
    }
    if (!rows_.bordered) return;
    products[d * dim + d] += count_ * border * border;
    rows[d] += count_ * border;
  }

 private:
  /// Up to four rows as group g; what is not there is zero.
  void pack(const std::byte* const* rows, Index count, Index g) {
    const Index d = rows_.d;
    for (Index r = 0; r < 4; ++r) {
      std::uint8_t* const line = line_.data() + r * columns_;
      std::fill_n(line, columns_, std::uint8_t{0});
      if (r >= count) continue;
      const auto* const from = reinterpret_cast<const std::uint8_t*>(rows[r]);
      std::uint64_t sum = 0;
      const std::uint8_t flip = rows_.is_signed ? 0x80 : 0;
      for (Index l = 0; l < d; ++l) line[l] = from[l] ^ flip;
      if (rows_.centred) {
        for (Index l = 0; l < d; ++l) sum += line[l];
        for (Index k = 0; k < digits; ++k)
          line[d + k] = static_cast<std::uint8_t>(sum >> (8 * k) & 0xff);
      }
    }
    const std::uint8_t* const line = line_.data();
    for (Index p = 0; p < panels_; ++p) {
      std::uint8_t* const to = packed_.get() + (p * groups_ + g) * 4 * byte_panel;
      const std::uint8_t* const from = line + p * byte_panel;
#if defined(__SSE2__)
      __m128i r[4];
      for (Index k = 0; k < 4; ++k)
        r[k] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k * columns_));
      const __m128i low[2] = {_mm_unpacklo_epi8(r[0], r[1]), _mm_unpacklo_epi8(r[2], r[3])};
      const __m128i high[2] = {_mm_unpackhi_epi8(r[0], r[1]), _mm_unpackhi_epi8(r[2], r[3])};
      auto* const out = reinterpret_cast<__m128i*>(to);
      _mm_storeu_si128(out, _mm_unpacklo_epi16(low[0], low[1]));
      _mm_storeu_si128(out + 1, _mm_unpackhi_epi16(low[0], low[1]));
      _mm_storeu_si128(out + 2, _mm_unpacklo_epi16(high[0], high[1]));
      _mm_storeu_si128(out + 3, _mm_unpackhi_epi16(high[0], high[1]));
#else
      for (Index j = 0; j < byte_panel; ++j)
        for (Index k = 0; k < 4; ++k) to[4 * j + k] = from[k * columns_ + j];
#endif
    }
  }

  /// What the sums of `count` rows say about b_i = factor (u_i - s_i / d) - v, v the offset:
  ///   sum_i b_il b_ij = factor^2 (S_lj - (T_l + T_j) / d + Q / d^2) - f_l v_j - v_l y_j
  ///   f_l = factor sum_i (u_il - s_i / d)   y_l = f_l - count v_l = sum_i b_il
  /// with T_l = sum_i s_i u_il and Q = sum_i s_i^2.
  void learn(double count) {
    const Index d = rows_.d;
    const auto size = static_cast<double>(d);
    count_ = count;
    part_.assign(at(d), 0.0);
    squares_ = 0;
    double all = 0;
    constexpr double place[2 * digits - 1] = {1, 0x1p8, 0x1p16, 0x1p24, 0x1p32};
    if (rows_.centred) {
      for (Index l = 0; l < d; ++l) {
        const std::int32_t* const from = products_.get() + l * columns_ + d;
        for (Index k = 0; k < digits; ++k) part_[at(l)] += place[k] * from[k];
        part_[at(l)] /= size;
      }
      for (Index k = 0; k < digits; ++k) {
        all += place[k] * sums_[at(d + k)];
        for (Index m = k; m < digits; ++m)
          squares_ += (m == k ? 1 : 2) * place[k + m] * products_[at((d + k) * columns_ + d + m)];
      }
      squares_ = squares_ / size / size;
    }
    plain_.resize(at(d)), offset_.resize(at(d)), moved_.resize(at(d));
    const double shift = rows_.is_signed && !rows_.centred ? 128 * rows_.factor : 0;
    for (Index l = 0; l < d; ++l) {
      plain_[at(l)] = rows_.factor * (sums_[at(l)] - all / size);
      offset_[at(l)] = (rows_.offset.empty() ? 0 : rows_.offset[at(l)]) + shift;
      moved_[at(l)] = plain_[at(l)] - count * offset_[at(l)];
    }
  }

  const ByteRows& rows_;
  Index panels_, columns_, groups_ = 0;
  LargeArray<std::uint8_t> packed_;
  LargeArray<std::int32_t> products_;
  std::vector<std::int32_t> sums_;
  std::vector<std::uint8_t> line_;  // four rows
  std::vector<std::byte> room_;
  double count_ = 0, squares_ = 0;                     // Q / d^2
  std::vector<double> part_, plain_, offset_, moved_;  // T / d, f, v, y
};

}  // namespace

double byte_gram_bytes(Index d) {
  const auto columns = static_cast<double>(panels_of(d) * byte_panel);
  return columns * (2 * static_cast<double>(byte_rows_at_once) + 4 * columns + 40);
}

SegmentSums<Gram> byte_gram_in_segments(const Portion& portion, const ByteRows& rows, int threads,
                                        const KeepGoing& keep_going) {
  const Index dim = rows.d + (rows.bordered ? 1 : 0);
  const auto square = static_cast<double>(dim) * static_cast<double>(dim);
  const double work = static_cast<double>(portion.segment()) * square;
  const int team = threads_for(threads, static_cast<double>(portion.size) * square);
  const bool direct = portion.leads() && gram_sum_bytes(portion, dim) == 0;
  std::vector<std::unique_ptr<Sums>> scratch(static_cast<std::size_t>(std::max(1, team)));
  SegmentSums<Gram> sums;
  const auto zero = [&] {
    return Gram{.products = std::vector<double>(at(dim * dim)),
                .rows = std::vector<double>(at(dim))};
  };
  if (portion.leads() && portion.size > 0) sums.push_back(zero());
  sum_segments<Gram>(
      team, portion, 8 * square, work,
      [&](int thread, Gram& sum, Index first, Index last) {
        auto& own = scratch[static_cast<std::size_t>(thread)];
        if (!own) own = std::make_unique<Sums>(rows);
        if (!direct) sum = zero();
        for (Index from = first; from < last; from += byte_rows_at_once) {
          throw_if_cancelled(keep_going);
          own->make(from, std::min(last, from + byte_rows_at_once));
          if (!direct) own->add_to(sum.products.data(), sum.rows.data());
        }
      },
      [&](const Gram& sum, int thread) {
        if (!direct) return append_segment(portion, sums, sum, add_gram);
        scratch[static_cast<std::size_t>(thread)]->add_to(sums.front().products.data(),
                                                          sums.front().rows.data());
      });
  return sums;
}

}  // namespace fwsr
