#include "fwsr/kernel/kernel_tables.hpp"

#include <algorithm>
#include <type_traits>

#include "fwsr/base/at.hpp"
#include "fwsr/kernel/block_distances.hpp"
#include "fwsr/kernel/factor_columns.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/kernel/middle_row.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

using namespace detail;

KernelNumbers numbers_in(const KernelTables& z) {
  return {.gamma = z.gamma, .scale = {.factor = z.times}};
}

FewRows few_of(const KernelTables& z) {
  return {
      .formula = formula_of(z.kernel), .numbers = numbers_in(z), .shift = z.shift, .rows = z.rows};
}

/// Kernels of sums of absolute differences, which no matrix product gives: in double, point by point.
bool by_differences(const KernelTables& z) {
  return formula_of(z.kernel).of == KernelOf::absolute_distances;
}
/// values (count x few) from rows (count x dim), which are moved by the shift on the way.
void values_by_differences(const KernelTables& z, double* rows, Index count, double* values) {
  for (Index i = 0; i < count; ++i)
    for (Index l = 0; l < z.dim; ++l) rows[i * z.dim + l] -= z.shift[at(l)];
  absolute_distances(DistanceBlock<double>{.left = rows,
                                           .rows = count,
                                           .right = z.rows.data(),
                                           .columns = z.few(),
                                           .d = z.dim,
                                           .out = values,
                                           .stride = z.few()});
  formula_of(z.kernel).wide.values(numbers_in(z), count * z.few(), values);
}

/// Fills a block with the values of its points.
template <class U>
std::function<void(const BlockRows<U>&)> value_filler(const Points& points, const KernelTables& z,
                                                      Index height) {
  if constexpr (std::is_same_v<U, double>)
    if (by_differences(z))
      return [&](const BlockRows<double>& to) {
        std::vector<double> rows(at(to.count() * z.dim));
        points.rows(to.first, to.last, rows.data());
        values_by_differences(z, rows.data(), to.count(), to.all + to.before * z.few());
      };
  return [columns = std::make_shared<ProductColumns<U>>(points, few_of(z)),
          height](const BlockRows<U>& to) { columns->fill(to, height); };
}

/// U: what products are of.
template <class U, class T>
SegmentSums<double> fill(const Points& points, const KernelTables& z, T* out, int threads,
                         const KeepGoing& keep_going) {
  const Index n = points.size(), r = z.few(), height = sweep_height(points.portion().of);
  const std::function<void(const BlockRows<U>&)> fill_values = value_filler<U>(points, z, height);
  const Substitution<T> substitute(z.lower, r);
  std::vector<double> left(at(n));
  sweep_rows<U>(
      points.portion(), height, r, out, threads, fill_values, [&](const BlockRows<T>& rows) {
        throw_if_cancelled(keep_going);
        substitute(rows.all, height);
        for (Index i = 0; i < rows.count(); ++i)
          left[at(rows.first + i)] = z.times - squared_norm_of(rows.all + (rows.before + i) * r, r);
      });
  return segment_sums(threads, points.portion(), [&](Index i) { return left[at(i)]; });
}

template <class T>
FactorRows make_rows(const Points& points, const KernelTables& z, bool wide, int threads,
                     const KeepGoing& keep_going) {
  const Index n = points.size(), r = z.few();
  const std::shared_ptr<T[]> storage(new T[at(checked_bytes(n, r, 1))]);
  FactorRows made;
  made.lost = wide ? fill<double>(points, z, storage.get(), threads, keep_going)
                   : fill<T>(points, z, storage.get(), threads, keep_going);
  made.trace = {static_cast<double>(n) * z.times};  // exact: a power of two
  made.points = std::make_unique<Points>(MatrixView<const T>{storage.get(), n, r, r}, storage,
                                         Preprocessing{.center = Center::none}, points.portion());
  return made;
}

}  // namespace

FactorRows factor_rows(const Points& points, const KernelTables& tables, bool single, bool wide,
                       int threads, const KeepGoing& keep_going) {
  return single ? make_rows<float>(points, tables, wide, threads, keep_going)
                : make_rows<double>(points, tables, true, threads, keep_going);
}

double farthest_from(const Points& points, const KernelTables& tables, int threads) {
  if (by_differences(tables)) return 2 * far;  // always in double
  return ProductColumns<float>(points, few_of(tables)).farthest(threads);
}

double farthest_in_single() {
  return far;
}

void for_kernel_values(const Points& points, const KernelTables& z, int threads,
                       const KeepGoing& keep_going, const UseValues& use) {
  const KernelFormula& formula = formula_of(z.kernel);
  const KernelNumbers numbers = numbers_in(z);
  const Index d = z.dim, few = z.few();
  constexpr Index height = (values_block + block_step - 1) / block_step * block_step;
  std::vector<double> of_few;
  for (Index f = 0; f < few; ++f)
    of_few.push_back(dot(z.rows.data() + f * d, z.rows.data() + f * d, d));
  for_blocks(
      threads, points.size(),
      [&](Index, Index first, Index last) {
        throw_if_cancelled(keep_going);
        std::vector<double> rows(at(height * d)), values(at(height * few));
        points.rows(first, last, rows.data());
        if (by_differences(z)) {
          values_by_differences(z, rows.data(), last - first, values.data());
          return use(first, last, values.data());
        }
        for (Index i = 0; i < last - first; ++i)
          for (Index l = 0; l < d; ++l) rows[at(i * d + l)] -= z.shift[at(l)];
        multiply(Product<double>{.op_b = Op::transpose,
                                 .m = height,
                                 .n = few,
                                 .k = d,
                                 .left = rows.data(),
                                 .right = z.rows.data(),
                                 .out = values.data()});
        for (Index i = 0; i < last - first; ++i) {
          const double* const own = rows.data() + i * d;
          const double square = dot(own, own, d);
          formula.wide.from_norms(numbers, {.own = square, .others = of_few.data()}, few,
                                  values.data() + i * few);
          if (!(numbers.gamma * square > far_in_double)) continue;
          for (Index f = 0; f < few; ++f)
            values[at(i * few + f)] =
                numbers.scale.factor *
                formula.value(numbers, squared_distance(own, z.rows.data() + f * d, d));
        }
        use(first, last, values.data());
      },
      values_block);
}

}  // namespace fwsr
