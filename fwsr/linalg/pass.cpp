#include "fwsr/linalg/pass.hpp"

#include "fwsr/linalg/pass_table.hpp"
#include "fwsr/linalg/processor.hpp"

namespace fwsr {

namespace {

const PassLoops& best_loops() {
#if defined(__x86_64__)
  if (instructions() >= Instructions::avx512) return pass_avx512;
  if (instructions() >= Instructions::avx2) return pass_avx2;
#endif
  return pass_base;
}

const PassLoops& loops() {
  static const PassLoops& chosen = best_loops();
  return chosen;
}

const NarrowLoops& loops_for(NarrowNumber number) {
  return loops().narrow[static_cast<std::size_t>(number)];
}

}  // namespace

void dots(const Rows<float>& a, const double* u, double* x) {
  loops().one_single(a, u, x);
}
void dots(const Rows<float>& a, const double* u, const double* v, const double* w, double* x,
          double* y, double* z) {
  loops().three_single(a, u, v, w, x, y, z);
}
void dots_of_points(const StoredRows<double>& a, const double* u, double* x) {
  loops().one_point(a, u, x);
}
void dots(const Rows<double>& a, const double* u, double* x) {
  loops().one_double(a, u, x);
}
template <NarrowType T>
void dots(const Rows<T>& a, const double* u, double* x) {
  loops_for(NarrowNumberOf<T>::value).one(&a, u, x);
}
template <NarrowType T>
double pass_rows(const Rows<T>& a, const PassVectors& with, const ScoreStep& step, const double* r,
                 double* c, double* h) {
  return loops_for(NarrowNumberOf<T>::value).pass(&a, with, step, r, c, h);
}
void widen(NarrowNumber number, const void* from, Index count, float* to) {
  loops_for(number).widen(from, count, to);
}
void finish_products(const PointProduct& how, Index count, double* p) {
  loops().finish(how, count, p);
}
double update_scores(const ScoreStep& step, Index count, const double* x, const double* y,
                     const double* z, const double* r, double* c, double* h) {
  return loops().update(step, count, x, y, z, r, c, h);
}
double update_scores(const PassProducts& how, const ScoreStep& step, Index count, const double* x,
                     const double* y, const double* z, const double* r, double* c, double* h) {
  return loops().finish_and_update(how, step, count, x, y, z, r, c, h);
}
double pass_rows(const Rows<float>& a, const PassVectors& with, const ScoreStep& step,
                 const double* r, double* c, double* h) {
  return loops().pass_single(a, with, step, r, c, h);
}
double pass_points(const StoredRows<double>& a, const PassVectors& with, const ScoreStep& step,
                   const double* r, double* c, double* h) {
  return loops().pass_point(a, with, step, r, c, h);
}
void dots(const double* a, Index count, Index stride, const PackedView& with, double* out,
          Index out_stride) {
  loops().packed(a, count, stride, with, out, out_stride);
}
void transpose(const double* a, Index rows, Index columns, double* out, Index out_stride) {
  loops().transpose(a, rows, columns, out, out_stride);
}
NearestKnown nearest(const double* values, const NearestTo& to) {
  return loops().nearest(values, to);
}
void sum_rows(const StoredRows<float>& a, bool center, RowSums* out) {
  loops().sums_single(a, center, out);
}
void sum_rows(const StoredRows<double>& a, bool center, RowSums* out) {
  loops().sums_double(a, center, out);
}
void load_rows(const StoredRows<float>& a, float* out, Index stride, const double* shift) {
  loops().rows_single_single(a, out, stride, shift);
}
void load_rows(const StoredRows<float>& a, double* out, Index stride, const double* shift) {
  loops().rows_single_double(a, out, stride, shift);
}
void load_rows(const StoredRows<double>& a, float* out, Index stride, const double* shift) {
  loops().rows_double_single(a, out, stride, shift);
}
void load_rows(const StoredRows<double>& a, double* out, Index stride, const double* shift) {
  loops().rows_double_double(a, out, stride, shift);
}
void add_sparse(const std::int32_t* slots, const double* y, Index count, const double* block,
                double* sums) {
  loops().sparse(slots, y, count, block, sums);
}
void add_rows(const float* a, Index count, Index d, double* sums) {
  loops().add_single(a, count, d, sums);
}
void add_rows(const double* a, Index count, Index d, double* sums) {
  loops().add_double(a, count, d, sums);
}
void add_triangle(const float* a, Index d, double* sums) {
  loops().triangle_single(a, d, sums);
}
void add_triangle(const double* a, Index d, double* sums) {
  loops().triangle_double(a, d, sums);
}
double dot(const float* a, const float* b, Index d) {
  return loops().dot_single(a, b, d);
}

#define NARROW(T)                                                                                \
  template void dots(const Rows<T>&, const double*, double*);                                    \
  template double pass_rows(const Rows<T>&, const PassVectors&, const ScoreStep&, const double*, \
                            double*, double*)
NARROW(std::uint8_t);
NARROW(std::int8_t);
NARROW(std::uint16_t);
NARROW(std::int16_t);
NARROW(Float16);
NARROW(BFloat16);
#undef NARROW

}  // namespace fwsr
