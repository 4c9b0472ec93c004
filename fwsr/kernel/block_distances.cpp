#include "fwsr/kernel/block_distances.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "fwsr/linalg/widest.hpp"

namespace fwsr {

namespace {

template <class T>
[[gnu::always_inline]] inline void load_some(const T* from, Index count,
                                             typename Vector<T>::Values& to) {
  T all[Vector<T>::lanes] = {};
  std::copy(from, from + count, all);
  __builtin_memcpy(&to, all, sizeof to);
}

/// sums += |x - y|: the sign bit is masked out.
template <class T>
struct Absolute {
  using Values = typename Vector<T>::Values;
  [[gnu::always_inline]] static void add(const Values& x, const Values& y, Values& sums) {
    typename Vector<T>::Bits bits;
    Values difference = x - y;
    __builtin_memcpy(&bits, &difference, sizeof bits);
    bits &= std::numeric_limits<std::decay_t<decltype(bits[0])>>::max();
    __builtin_memcpy(&difference, &bits, sizeof bits);
    sums += difference;
  }
};

/// sums += (x - y)^2
template <class T>
struct Squared {
  using Values = typename Vector<T>::Values;
  [[gnu::always_inline]] static void add(const Values& x, const Values& y, Values& sums) {
    const Values difference = x - y;
    sums += difference * difference;
  }
};

/// Four columns at a time; partial sums over the lanes of a vector, added first to last in double.
template <class Term, std::size_t count, class T>
[[gnu::always_inline]] inline void some_distances(const T* a, const T* const (&b)[count], Index d,
                                                  T* out) {
  using Values = typename Vector<T>::Values;
  constexpr auto lanes = static_cast<Index>(Vector<T>::lanes);
  Values sums[count] = {};
  Values x, y;
  Index l = 0;
  for (; l + lanes <= d; l += lanes) {
    __builtin_memcpy(&x, a + l, sizeof x);
    for (std::size_t c = 0; c < count; ++c) {
      __builtin_memcpy(&y, b[c] + l, sizeof y);
      Term::add(x, y, sums[c]);
    }
  }
  if (l < d) {
    load_some(a + l, d - l, x);
    for (std::size_t c = 0; c < count; ++c) {
      load_some(b[c] + l, d - l, y);
      Term::add(x, y, sums[c]);
    }
  }
  for (std::size_t c = 0; c < count; ++c) {
    double sum = 0;
    for (std::size_t e = 0; e < Vector<T>::lanes; ++e) sum += static_cast<double>(sums[c][e]);
    out[c] = static_cast<T>(sum);
  }
}

template <class Term, class T>
void all_distances(const DistanceBlock<T>& p) {
  constexpr Index rows_at_once = 48;  // stay in the cache while the columns pass by
  run_widest([&]() __attribute__((always_inline)) {
    for (Index top = 0; top < p.rows; top += rows_at_once) {
      const Index bottom = std::min(p.rows, top + rows_at_once);
      Index j = 0;
      for (; j + 4 <= p.columns; j += 4) {
        const T* const b = p.right + j * p.d;
        const T* const four[4] = {b, b + p.d, b + 2 * p.d, b + 3 * p.d};
        for (Index i = top; i < bottom; ++i)
          some_distances<Term>(p.left + i * p.d, four, p.d, p.out + i * p.stride + j);
      }
      for (; j < p.columns; ++j) {
        const T* const one[1] = {p.right + j * p.d};
        for (Index i = top; i < bottom; ++i)
          some_distances<Term>(p.left + i * p.d, one, p.d, p.out + i * p.stride + j);
      }
    }
  });
}

}  // namespace

void absolute_distances(const DistanceBlock<float>& block) {
  all_distances<Absolute<float>>(block);
}
void absolute_distances(const DistanceBlock<double>& block) {
  all_distances<Absolute<double>>(block);
}
void squared_distances(const DistanceBlock<double>& block) {
  all_distances<Squared<double>>(block);
}

}  // namespace fwsr
