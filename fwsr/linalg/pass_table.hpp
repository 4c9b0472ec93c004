// The loops of pass.hpp as one instruction set has them.
#pragma once

#include "fwsr/linalg/pass.hpp"

namespace fwsr {

/// Of one type of narrow numbers; `a` are Rows of it.
struct NarrowLoops {
  void (*one)(const void* a, const double*, double*);
  double (*pass)(const void* a, const PassVectors&, const ScoreStep&, const double*, double*,
                 double*);
  void (*widen)(const void*, Index, float*);
};

struct PassLoops {
  NarrowLoops narrow[6];  // in the order of NarrowNumber
  void (*one_single)(const Rows<float>&, const double*, double*);
  void (*one_double)(const Rows<double>&, const double*, double*);
  void (*three_single)(const Rows<float>&, const double*, const double*, const double*, double*,
                       double*, double*);
  void (*one_point)(const StoredRows<double>&, const double*, double*);
  void (*finish)(const PointProduct&, Index, double*);
  double (*update)(const ScoreStep&, Index, const double*, const double*, const double*,
                   const double*, double*, double*);
  double (*finish_and_update)(const PassProducts&, const ScoreStep&, Index, const double*,
                              const double*, const double*, const double*, double*, double*);
  double (*pass_single)(const Rows<float>&, const PassVectors&, const ScoreStep&, const double*,
                        double*, double*);
  double (*pass_point)(const StoredRows<double>&, const PassVectors&, const ScoreStep&,
                       const double*, double*, double*);
  void (*packed)(const double*, Index, Index, const PackedView&, double*, Index);
  void (*transpose)(const double*, Index, Index, double*, Index);
  NearestKnown (*nearest)(const double*, const NearestTo&);
  void (*sums_single)(const StoredRows<float>&, bool, RowSums*);
  void (*sums_double)(const StoredRows<double>&, bool, RowSums*);
  void (*rows_single_single)(const StoredRows<float>&, float*, Index, const double*);
  void (*rows_single_double)(const StoredRows<float>&, double*, Index, const double*);
  void (*rows_double_single)(const StoredRows<double>&, float*, Index, const double*);
  void (*rows_double_double)(const StoredRows<double>&, double*, Index, const double*);
  void (*sparse)(const std::int32_t*, const double*, Index, const double*, double*);
  void (*add_single)(const float*, Index, Index, double*);
  void (*add_double)(const double*, Index, Index, double*);
  void (*triangle_single)(const float*, Index, double*);
  void (*triangle_double)(const double*, Index, double*);
  double (*dot_single)(const float*, const float*, Index);
};

extern const PassLoops pass_base;
#if defined(__x86_64__)
extern const PassLoops pass_avx2, pass_avx512;
#endif

}  // namespace fwsr
