// The bodies of the loops of pass.hpp. Included by one source file per instruction set, each of which
// is compiled for its own (fwsr/CMakeLists.txt). Nothing of the standard library is called here: an
// inline function of it, compiled for AVX-512, could be linked into everything else.
#pragma once

#include "fwsr/linalg/lanes.hpp"
#include "fwsr/linalg/packed_loops.hpp"
#include "fwsr/linalg/pass.hpp"
#include "fwsr/linalg/pass_table.hpp"
#include "fwsr/linalg/rows_ahead.hpp"

namespace fwsr {

namespace {

/// Dot products of the rows first, first + apart, ... (`height` of them) with `width` vectors, into
/// out[0], out[out_apart], ...: of the rows themselves, or of the points they become.
template <std::size_t height, std::size_t width, class T, template <class> class Kind>
[[gnu::always_inline]] inline void dots_of(const Kind<T>& a, Index first, Index apart, Index next,
                                           const double* const (&vectors)[width],
                                           double* const (&out)[width], Index out_apart) {
  constexpr bool points = requires {
    a.numbers;
  };
  constexpr Index line = 64 / static_cast<Index>(sizeof(T));
  const T *rows[height], *ahead[height];
  for (std::size_t i = 0; i < height; ++i) {
    const Index here = first + static_cast<Index>(i) * apart;
    rows[i] = a.rows[here];
    ahead[i] = ahead_of(a, here, first, apart, next);
  }
  double inner[height], mean[height], outer[height];
  if constexpr (points)
    for (std::size_t i = 0; i < height; ++i) {
      const PointNumbers& n = a.numbers[first + static_cast<Index>(i) * apart];
      inner[i] = n.inner, mean[i] = n.mean, outer[i] = n.outer;
    }
  Lanes sums[height][width] = {};
  const auto add = [&](Index l, Lanes(&x)[height]) __attribute__((always_inline)) {
    Lanes weight, means, vector[width];
    if constexpr (points) {
      weight = Lanes{} + 1.0;
      means = Lanes{};
      if (a.weights) load(a.weights + l, weight);
      if (a.means) load(a.means + l, means);
    }
    for (std::size_t k = 0; k < width; ++k) load(vectors[k] + l, vector[k]);
    for (std::size_t i = 0; i < height; ++i) {
      if constexpr (points) x[i] = x[i] * inner[i] * weight - means - mean[i];
      for (std::size_t k = 0; k < width; ++k) add_product(sums[i][k], x[i], vector[k]);
    }
  };
  const Index whole = a.d / lanes * lanes;
  Lanes x[height];
  for (Index l = 0; l < whole; l += lanes) {
    if (l % line == 0)
      for (std::size_t i = 0; i < height; ++i) __builtin_prefetch(ahead[i] + l);
    for (std::size_t i = 0; i < height; ++i) load(rows[i] + l, x[i]);
    add(l, x);
  }
  if (whole < a.d) {
    for (std::size_t i = 0; i < height; ++i) load_tail(rows[i] + whole, a.d - whole, x[i]);
    add(whole, x);
  }
  for (std::size_t k = 0; k < width; ++k) {
    double* to = out[k];
    if constexpr (height == 4) {
      Quad sum;
      sums_of(sums[0][k], sums[1][k], sums[2][k], sums[3][k], sum);
      if constexpr (points) sum *= Quad{outer[0], outer[1], outer[2], outer[3]};
      for (std::size_t i = 0; i < height; ++i) to[static_cast<Index>(i) * out_apart] = sum[i];
    } else {
      for (std::size_t i = 0; i < height; ++i)
        to[static_cast<Index>(i) * out_apart] = sum_of(sums[i][k]) * (points ? outer[i] : 1.0);
    }
  }
}

/// Every row. Those taken together stand far from each other, each at the head of a stream of rows:
/// the processor reads several streams faster than one, and sees each of them coming.
template <std::size_t height, std::size_t width, class T, template <class> class Kind>
[[gnu::always_inline]] inline void dots_of_all(const Kind<T>& a,
                                               const double* const (&vectors)[width],
                                               double* const (&out)[width]) {
  constexpr auto streams = static_cast<Index>(height);
  const Index apart = a.count / streams, next = rows_ahead<T>(a.d);
  double* to[width];
  const auto from = [&](Index i) __attribute__((always_inline)) {
    for (std::size_t k = 0; k < width; ++k) to[k] = out[k] + i;
  };
  for (Index i = 0; i < apart; ++i)
    from(i), dots_of<height, width>(a, i, apart, next, vectors, to, apart);
  for (Index i = apart * streams; i < a.count; ++i)
    from(i), dots_of<1, width>(a, i, a.count, next, vectors, to, 1);
}

/// v <- outer (inner v - offset) + last for points i, i + 1, ...: as many as there are in `v`.
template <class V>
[[gnu::always_inline]] inline void finish(const PointProduct& how, Index i, V& v) {
  V inner = V{} + how.every_inner, outer = V{} + how.every_outer;
  if (how.inner) __builtin_memcpy(&inner, how.inner + i, sizeof inner);
  if (how.outer) __builtin_memcpy(&outer, how.outer + i, sizeof outer);
  v = (v * inner - how.offset) * outer + how.last;
}
void finish_body(const PointProduct& how, Index count, double* p) {
  Index i = 0;
  for (Lanes v; i + lanes <= count; i += lanes) load(p + i, v), finish(how, i, v), store(v, p + i);
  for (; i < count; ++i) finish(how, i, p[i]);
}

/// Scores from point `first` on; `prepare(i, x, y, z)` has the last word on its products.
template <class Prepare>
[[gnu::always_inline]] inline double update_with(const ScoreStep& step, Index count,
                                                 const double* x, const double* y, const double* z,
                                                 const double* r, double* c, double* h,
                                                 const Prepare& prepare) {
  const double gamma = step.gamma, length = step.length, keep = 1 - gamma;
  const auto update = [&](Index i, auto& xi, auto& yi, auto& zi, const auto& ri, auto& ci, auto& hi)
      __attribute__((always_inline)) {
    prepare(i, xi, yi, zi);
    const auto bx = length * xi;
    ci = keep * keep * ci + gamma * gamma * ri - 2 * gamma * bx * yi + bx * bx +
         2 * keep * (gamma * hi - bx * zi);
    hi = keep * hi + gamma * ri - bx * yi;
  };
  Lanes most = Lanes{} - __builtin_inf();
  Index i = 0;
  for (; i + lanes <= count; i += lanes) {
    Lanes xi, yi, zi, ri, ci, hi;
    load(x + i, xi), load(y + i, yi), load(z + i, zi);
    load(r + i, ri), load(c + i, ci), load(h + i, hi);
    update(i, xi, yi, zi, ri, ci, hi);
    store(ci, c + i), store(hi, h + i);
    keep_larger(most, ci);
  }
  double largest = largest_of(most);
  for (; i < count; ++i) {
    double xi = x[i], yi = y[i], zi = z[i];
    update(i, xi, yi, zi, r[i], c[i], h[i]);
    largest = c[i] > largest ? c[i] : largest;
  }
  return largest;
}
double update_body(const ScoreStep& step, Index count, const double* x, const double* y,
                   const double* z, const double* r, double* c, double* h) {
  return update_with(step, count, x, y, z, r, c, h, [](auto&&...) {});
}
/// The first of these points is point `first` to `how`.
[[gnu::always_inline]] inline double finish_and_update(const PassProducts& how, Index first,
                                                       const ScoreStep& step, Index count,
                                                       const double* x, const double* y,
                                                       const double* z, const double* r, double* c,
                                                       double* h) {
  return update_with(
      step, count, x, y, z, r, c,
      h, [&](Index i, auto& xi, auto& yi, auto& zi) __attribute__((always_inline)) {
        finish(how.x, first + i, xi);
        finish(how.y, first + i, yi);
        finish(how.z, first + i, zi);
      });
}
double finish_and_update_body(const PassProducts& how, const ScoreStep& step, Index count,
                              const double* x, const double* y, const double* z, const double* r,
                              double* c, double* h) {
  return finish_and_update(how, 0, step, count, x, y, z, r, c, h);
}

/// Streams of rows as in dots_of_all. Whenever each has moved on by one vector of scores these are
/// brought up to date, while the rows to come are on their way.
template <std::size_t height, class T, template <class> class Kind>
[[gnu::always_inline]] inline double pass_body(const Kind<T>& a, const PassVectors& with,
                                               const ScoreStep& step, const double* r, double* c,
                                               double* h) {
  constexpr auto streams = static_cast<Index>(height);
  const Index apart = a.count / streams / lanes * lanes, next = rows_ahead<T>(a.d);
  const double* const vectors[3] = {with.u, with.v, with.w};
  constexpr auto room = static_cast<std::size_t>(streams * lanes);
  double x[room], y[room], z[room];
  double largest = -__builtin_inf();
  const auto settle = [&](Index from, Index first, Index count) __attribute__((always_inline)) {
    const double most = finish_and_update(with.products, first, step, count, x + from, y + from,
                                          z + from, r + first, c + first, h + first);
    largest = most > largest ? most : largest;
  };
  for (Index i = 0; i < apart; i += lanes) {
    for (Index t = 0; t < lanes; ++t)
      dots_of<height, 3>(a, i + t, apart, next, vectors, {x + t, y + t, z + t}, lanes);
    for (Index s = 0; s < streams; ++s) settle(s * lanes, s * apart + i, lanes);
  }
  for (Index i = apart * streams; i < a.count; i += lanes) {
    const Index count = i + lanes < a.count ? lanes : a.count - i;
    for (Index t = 0; t < count; ++t)
      dots_of<1, 3>(a, i + t, a.count, next, vectors, {x + t, y + t, z + t}, 1);
    settle(0, i, count);
  }
  return largest;
}

/// RowSums of the rows first, first + apart, ... (`height` of them). Twice over them, the second time from cache: deviations from the mean
/// lose no digits to a large offset, and their own sum mends the mean.
template <std::size_t height, bool plain, class T>
[[gnu::always_inline]] inline void sums_of_rows(const StoredRows<T>& a, Index first, Index apart,
                                                bool center, RowSums* out) {
  const Index whole = a.d / lanes * lanes;
  const auto d = static_cast<double>(a.d);
  const T* rows[height];
  double inner[height], m[height];
  for (std::size_t i = 0; i < height; ++i) {
    rows[i] = a.rows[first + static_cast<Index>(i) * apart];
    inner[i] = a.numbers[first + static_cast<Index>(i) * apart].inner;
  }
  Lanes sum[height] = {}, squares[height] = {};
  Words<T> largest[height] = {};
  Lanes v;
  const auto weigh = [&](Index l) __attribute__((always_inline)) {
    if constexpr (!plain) {
      Lanes weight;
      if (a.weights) load(a.weights + l, weight), v *= weight;
    }
  };
  const auto look = [&](std::size_t i, Index l, const T* numbers) __attribute__((always_inline)) {
    Words<T> size;
    __builtin_memcpy(&size, numbers, sizeof size);
    size &= without_sign<T>;
    largest[i] = size > largest[i] ? size : largest[i];
    weigh(l);
    sum[i] += v;
  };
  constexpr Index line = 64 / static_cast<Index>(sizeof(T)), far = reach / Index{sizeof(T)};
  for (Index l = 0; l < whole; l += lanes) {
    if (l % line == 0)
      for (std::size_t i = 0; i < height; ++i) __builtin_prefetch(rows[i] + l + far);
    for (std::size_t i = 0; i < height; ++i) load(rows[i] + l, v), look(i, l, rows[i] + l);
  }
  if (whole < a.d)
    for (std::size_t i = 0; i < height; ++i) {
      T padded[lanes] = {};
#pragma GCC unroll 1
      for (Index l = whole; l < a.d; ++l) padded[l - whole] = rows[i][l];
      load(padded, v), look(i, whole, padded);
    }
  for (std::size_t i = 0; i < height; ++i) {
    m[i] = center ? inner[i] * sum_of(sum[i]) / d : 0.0;
    sum[i] = Lanes{};
  }
  const auto deviate = [&](std::size_t i, Index l) __attribute__((always_inline)) {
    v *= inner[i];
    weigh(l);
    if constexpr (!plain) {
      Lanes mean;
      if (a.means) load(a.means + l, mean), v -= mean;
    }
    v -= m[i];
  };
  const auto add = [&](std::size_t i) __attribute__((always_inline)) {
    sum[i] += v;
    add_product(squares[i], v, v);
  };
  for (Index l = 0; l < whole; l += lanes)
    for (std::size_t i = 0; i < height; ++i) load(rows[i] + l, v), deviate(i, l), add(i);
  if (whole < a.d)
    for (std::size_t i = 0; i < height; ++i) {
      load_tail(rows[i] + whole, a.d - whole, v), deviate(i, whole);
      for (Index l = a.d - whole; l < lanes; ++l) v[l] = 0;
      add(i);
    }
  for (std::size_t i = 0; i < height; ++i) {
    RowSums& to = out[first + static_cast<Index>(i) * apart];
    to.largest = number_of<T>(largest[i]);
    const double correction = center ? sum_of(sum[i]) / d : 0.0;
    to.mean = m[i] + correction;
    to.squares = sum_of(squares[i]) - d * correction * correction;
  }
}

template <std::size_t height, bool plain, class T>
[[gnu::always_inline]] inline void sums_of_all(const StoredRows<T>& a, bool center, RowSums* out) {
  constexpr auto streams = static_cast<Index>(height);
  const Index apart = a.count / streams;
  for (Index i = 0; i < apart; ++i) sums_of_rows<height, plain>(a, i, apart, center, out);
  for (Index i = apart * streams; i < a.count; ++i) sums_of_rows<1, plain>(a, i, 1, center, out);
}

template <class T, class Out>
[[gnu::always_inline]] inline void load_rows_body(const StoredRows<T>& a, Out* out, Index stride,
                                                  const double* shift) {
  const Index whole = a.d / lanes * lanes;
  for (Index i = 0; i < a.count; ++i, out += stride) {
    const PointNumbers n = a.numbers[i];
    const T* x = a.rows[i];
    Lanes weight = Lanes{} + 1.0, mean = Lanes{}, move = Lanes{}, v;
    const auto become = [&](Index l) __attribute__((always_inline)) {
      if (a.weights) load(a.weights + l, weight);
      if (a.means) load(a.means + l, mean);
      if (shift) load(shift + l, move);
      if (a.weights || a.means || shift)
        v = (v * n.inner * weight - mean - n.mean) * n.outer - move;
      else
        v = (v * n.inner - n.mean) * n.outer;
    };
    for (Index l = 0; l < whole; l += lanes) load(x + l, v), become(l), store(v, out + l);
    if (whole < a.d) {
      load_tail(x + whole, a.d - whole, v), become(whole);
      for (Index l = whole; l < a.d; ++l) out[l] = static_cast<Out>(v[l - whole]);
    }
  }
}

void sparse_body(const std::int32_t* slots, const double* y, Index count, const double* block,
                 double* sums) {
  constexpr Index parts = sparse_width / lanes;
  Lanes sum[parts];
  for (Index k = 0; k < parts; ++k) load(sums + k * lanes, sum[k]);
  for (Index e = 0; e < count; ++e) {
    const double* from = block + static_cast<Index>(slots[e]) * sparse_width;
    const Lanes factor = Lanes{} + y[e];
    for (Index k = 0; k < parts; ++k) {
      Lanes v;
      load(from + k * lanes, v);
      add_product(sum[k], v, factor);
    }
  }
  for (Index k = 0; k < parts; ++k) store(sum[k], sums + k * lanes);
}

/// Sums of `width` vectors of columns, which stay in registers; the last may be cut short.
template <std::size_t width, class T>
[[gnu::always_inline]] inline void add_columns(const T* a, Index count, Index d, Index columns,
                                               double* sums) {
  constexpr Index before_last = static_cast<Index>(width - 1) * lanes;
  const Index cut = columns - before_last;
  Lanes sum[width], v;  // begun with what is there: the same bits however the rows are cut
  for (std::size_t k = 0; k + 1 < width; ++k) load(sums + static_cast<Index>(k) * lanes, sum[k]);
  load_tail(sums + before_last, cut, sum[width - 1]);
  for (Index i = 0; i < count; ++i, a += d) {
    for (std::size_t k = 0; k + 1 < width; ++k)
      load(a + static_cast<Index>(k) * lanes, v), sum[k] += v;
    if (cut == lanes)
      load(a + before_last, v);
    else
      load_tail(a + before_last, cut, v);
    sum[width - 1] += v;
  }
  for (Index l = 0; l < columns; ++l) sums[l] = sum[l / lanes][l % lanes];
}

template <class T>
void add_rows_body(const T* a, Index count, Index d, double* sums) {
  constexpr Index width = 4 * lanes;
  Index l = 0;
  for (; l + width <= d; l += width) add_columns<4>(a + l, count, d, width, sums + l);
  for (; l < d; l += lanes)
    add_columns<1>(a + l, count, d, l + lanes < d ? lanes : d - l, sums + l);
}

template <class T>
void add_triangle_body(const T* a, Index d, double* sums) {
  for (Index i = 0; i < d; ++i) {
    const T* from = a + i * d;
    double* to = sums + i * d;
    Index l = i;
    for (Lanes sum, v; l + lanes <= d; l += lanes) {
      load(to + l, sum), load(from + l, v);
      store(sum + v, to + l);
    }
    for (; l < d; ++l) to[l] += static_cast<double>(from[l]);
  }
}

[[gnu::always_inline]] inline double dot_body(const float* a, const float* b, Index d) {
  Lanes sums = {}, x, y;
  const Index whole = d / lanes * lanes;
  for (Index l = 0; l < whole; l += lanes) load(a + l, x), load(b + l, y), add_product(sums, x, y);
  if (whole < d) {
    load_tail(a + whole, d - whole, x), load_tail(b + whole, d - whole, y);
    add_product(sums, x, y);
  }
  return sum_of(sums);
}

/// Rows at a time that fit the registers.
#if defined(__AVX512F__)
constexpr std::size_t height = 4, packed_height = 8;
#elif defined(__AVX2__)
constexpr std::size_t height = 2, packed_height = 2;
#else
constexpr std::size_t height = 1, packed_height = 1;
#endif

template <class A>
void one(const A& a, const double* u, double* x) {
  dots_of_all<height, 1>(a, {u}, {x});
}
template <class A>
void three(const A& a, const double* u, const double* v, const double* w, double* x, double* y,
           double* z) {
  dots_of_all<height, 3>(a, {u, v, w}, {x, y, z});
}

template <class A>
double pass(const A& a, const PassVectors& with, const ScoreStep& step, const double* r, double* c,
            double* h) {
  return pass_body<height>(a, with, step, r, c, h);
}

template <class T>
void sums(const StoredRows<T>& a, bool center, RowSums* out) {
  if (a.weights || a.means)
    sums_of_all<height, false>(a, center, out);
  else
    sums_of_all<height, true>(a, center, out);
}

/// Narrow numbers as float32, which holds each of them.
template <class T>
void widen_body(const void* from, Index count, float* to) {
  const T* numbers = static_cast<const T*>(from);
  Index l = 0;
  for (Singles v; l + lanes <= count; l += lanes) {
    load(numbers + l, v);
    __builtin_memcpy(to + l, &v, sizeof v);
  }
  if (l == count) return;
  Lanes v;
  load_tail(numbers + l, count - l, v);
  for (Index e = l; e < count; ++e) to[e] = static_cast<float>(v[e - l]);
}

template <class T>
constexpr NarrowLoops narrow_loops{
    .one = [](const void* a, const double* u,
              double* x) { one(*static_cast<const Rows<T>*>(a), u, x); },
    .pass = [](const void* a, const PassVectors& with, const ScoreStep& step, const double* r,
               double* c,
               double* h) { return pass(*static_cast<const Rows<T>*>(a), with, step, r, c, h); },
    .widen = widen_body<T>};

constexpr PassLoops loops{
    .narrow = {narrow_loops<std::uint8_t>, narrow_loops<std::int8_t>, narrow_loops<std::uint16_t>,
               narrow_loops<std::int16_t>, narrow_loops<Float16>, narrow_loops<BFloat16>},
    .one_single = one<Rows<float>>,
    .one_double = one<Rows<double>>,
    .three_single = three<Rows<float>>,
    .one_point = one<StoredRows<double>>,
    .finish = finish_body,
    .update = update_body,
    .finish_and_update = finish_and_update_body,
    .pass_single = pass<Rows<float>>,
    .pass_point = pass<StoredRows<double>>,
    .packed = packed_body<packed_height>,
    .transpose = transpose_body,
    .nearest = nearest_body,
    .sums_single = sums<float>,
    .sums_double = sums<double>,
    .rows_single_single = load_rows_body<float, float>,
    .rows_single_double = load_rows_body<float, double>,
    .rows_double_single = load_rows_body<double, float>,
    .rows_double_double = load_rows_body<double, double>,
    .sparse = sparse_body,
    .add_single = add_rows_body<float>,
    .add_double = add_rows_body<double>,
    .triangle_single = add_triangle_body<float>,
    .triangle_double = add_triangle_body<double>,
    .dot_single = dot_body};

}  // namespace

}  // namespace fwsr
