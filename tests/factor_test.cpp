// The low-rank factor of a kernel matrix: what it equals, what it leaves out, and selections
// through it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compare.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/data/read.hpp"
#include "fwsr/kernel/factor.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/solver/select.hpp"
#include "oracle/oracle.hpp"
#include "problems.hpp"

namespace {

using fwsr::Center;
using fwsr::FormKind;
using fwsr::Index;
using fwsr::Kernel;
using fwsr::KernelBy;
using fwsr::KernelType;
using fwsr::Rng;
using fwsr::SelectOptions;
using oracle::Real;
using problems::Data;
using problems::Kind;
using problems::Storage;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// A factor, and what it is made from.
struct Made {
  Made(const fwsr::PointsView& view, const Kernel& kernel, Index rank, bool single, int threads = 1)
      : points(view, {}, {.center = Center::none}, threads),
        exact(fwsr::make_tiled_kernel(points, kernel, {})),
        factor(*exact, points, kernel, rank, single, threads) {}

  std::vector<double> row(Index i) const {
    const Index r = factor.rank();
    if (const auto* f = std::get_if<0>(&rows)) return {f->data + i * r, f->data + (i + 1) * r};
    const auto& f = std::get<1>(rows);
    return {f.data + i * r, f.data + (i + 1) * r};
  }

  fwsr::SerialBlas serial;
  fwsr::Points points;
  std::unique_ptr<fwsr::KernelMatrix> exact;
  fwsr::Factor factor;
  fwsr::PointsView rows = factor.rows();
};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t l = 0; l < a.size(); ++l) sum += a[l] * b[l];
  return sum;
}

/// The largest |K - F F^T| over the largest K_ii; K from the oracle.
double largest_error(const Made& made, const oracle::Matrix<Real>& k) {
  const double unit = made.exact->unit() * made.factor.unit();
  Real most = 0, diagonal = 0;
  std::vector<std::vector<double>> f;
  for (Index i = 0; i < k.rows; ++i) f.push_back(made.row(i));
  for (Index i = 0; i < k.rows; ++i) {
    diagonal = std::max(diagonal, k(i, i));
    for (Index j = 0; j < k.rows; ++j)
      most = std::max(most, std::abs(k(i, j) - Real(dot(f[at(i)], f[at(j)]) / unit / unit)));
  }
  return static_cast<double>(most / diagonal);
}

oracle::Matrix<Real> kernel_of(const Data& data, const Kernel& kernel) {
  return oracle::kernel_matrix(data.exact(), {.type = static_cast<oracle::KernelType>(kernel.type),
                                              .gamma = *kernel.gamma,
                                              .degree = kernel.degree,
                                              .coef0 = kernel.coef0});
}

std::vector<double> values(Kind kind, Index n, Index d, std::uint64_t seed) {
  Rng rng(seed);
  return problems::make_values(kind, n, d, true, rng);
}

const std::vector<Kernel> kernels = {
    {.type = KernelType::rbf, .gamma = 0.1},
    {.type = KernelType::polynomial, .gamma = 0.2, .degree = 3, .coef0 = 1},
    {.type = KernelType::polynomial, .gamma = 0.5, .degree = 2, .coef0 = 0},
    {.type = KernelType::laplacian, .gamma = 0.1}};

SelectOptions options(Index k, const Kernel& kernel, Index rank) {
  SelectOptions o;
  o.exemplars = k;
  o.kernel = kernel;
  o.rank = rank;
  o.codes = o.assignment = true;
  return o;
}

// float32 rounds K to 2^-24 of its largest entry, and so does each of up to 64 steps of the substitution; pivots
// down to 1e-6 are kept. In double the same with 2^-53 and 1e-13, and more of them.
constexpr double single_rounding = 1e-6 + 64 * 0x1p-24, double_rounding = 2e-12;

}  // namespace

// ---- the factor ----------------------------------------------------------------------------------

TEST(Factor, of_full_rank_is_the_kernel) {
  for (const Kernel& kernel : kernels)
    for (const Storage storage :
         {Storage::dense_f32, Storage::dense_f64, Storage::csr_f32_i32, Storage::csr_f64_i64})
      for (const Kind kind : {Kind::gaussian, Kind::low_rank, Kind::duplicates}) {
        const Data data(61, 5, values(kind, 61, 5, 3), storage);
        const auto k = kernel_of(data, kernel);
        const bool single = fwsr::is_single(data.view());
        SCOPED_TRACE(testing::Message() << fwsr::name_of(kernel.type) << kernel.degree << ' '
                                        << int(storage) << ' ' << int(kind));
        const Made made(data.view(), kernel, 61, single);
        EXPECT_LE(largest_error(made, k), single ? single_rounding : double_rounding);
        EXPECT_LE(made.factor.error(), single ? single_rounding : double_rounding);
        if (!single) continue;
        EXPECT_LE(largest_error(Made(data.view(), kernel, 61, false), k), double_rounding);
      }
}

TEST(Factor, says_exactly_what_it_leaves_out) {
  const Data data(200, 6, values(Kind::gaussian, 200, 6, 5), Storage::dense_f64);
  for (const Kernel& kernel : kernels) {
    const auto k = kernel_of(data, kernel);
    double before = 2;
    for (const Index rank : {1, 7, 20, 70, 150}) {
      const Made made(data.view(), kernel, rank, false);
      const double unit = made.exact->unit() * made.factor.unit();
      Real trace = 0, kept = 0;
      for (Index i = 0; i < 200; ++i) {
        const Real squares = dot(made.row(i), made.row(i)) / unit / unit;
        EXPECT_LE(squares, k(i, i) * (1 + 1e-9L));
        trace += k(i, i);
        kept += squares;
      }
      EXPECT_NEAR(made.factor.error(), static_cast<double>(1 - kept / trace), double_rounding);
      EXPECT_LE(made.factor.error(), before + double_rounding);
      before = made.factor.error();
      EXPECT_NEAR(Made(data.view(), kernel, rank, true).factor.error(), before, single_rounding);
    }
  }
}

TEST(Factor, is_exact_at_its_landmarks) {
  const Data data(3000, 4, values(Kind::clustered, 3000, 4, 6), Storage::dense_f32);
  const Kernel kernel{.type = KernelType::rbf, .gamma = 0.5};
  const Made made(data.view(), kernel, 30, false);
  const auto& marks = made.factor.landmarks();
  ASSERT_EQ(marks.size(), 30U);
  EXPECT_EQ(std::set(marks.begin(), marks.end()).size(), 30U);
  for (const Index l : marks)
    for (Index i = 0; i < 3000; i += 37) {
      const std::vector<double> value =
          made.exact->values(std::vector<Index>{l}, std::vector<Index>{i}, fwsr::Eta::left_out);
      const double unit = made.factor.unit();
      EXPECT_NEAR(dot(made.row(l), made.row(i)) / unit / unit, value[0], double_rounding);
    }
}

TEST(Factor, keeps_its_digits_far_from_the_middle) {
  // Two clusters a thousand widths apart: float32 squares would leave no digit of the distances.
  std::vector<double> x = values(Kind::gaussian, 60, 3, 7);
  for (std::size_t i = 0; i < x.size() / 2; ++i) x[i] += 1000;
  const Data data(60, 3, x, Storage::dense_f32);
  const Kernel kernel{.type = KernelType::rbf, .gamma = 1.0};
  EXPECT_LE(largest_error(Made(data.view(), kernel, 60, true), kernel_of(data, kernel)),
            single_rounding);
}

TEST(Factor, and_its_kernel_keep_the_digits_of_all_others_beside_points_very_far_away) {
  const Kernel kernel{.type = KernelType::rbf, .gamma = 0.3};
  for (const double away : {1e6, 1e8, 1e10, 1e12, 1e20})
    for (const bool many : {false, true}) {
      SCOPED_TRACE(testing::Message() << away << (many ? ", three of them" : ""));
      std::vector<double> x = values(Kind::clustered, 60, 3, 9);
      for (Index i = 40; i < (many ? 43 : 41); ++i) x[at(i * 3 + 1)] = away;
      const Data data(60, 3, x, Storage::dense_f64);
      const auto k = kernel_of(data, kernel);
      const Made made(data.view(), kernel, 60, false);
      EXPECT_LE(largest_error(made, k), double_rounding);
      for (Index i = 0; i < 60; ++i)
        for (Index j = 0; j < 60; ++j)
          ASSERT_NEAR(made.exact->values(std::vector<Index>{i}, std::vector<Index>{j})[0],
                      static_cast<double>(k(i, j)), double_rounding)
              << i << ' ' << j;
    }
}

TEST(Factor, of_copies_has_a_column_for_each_kind) {
  const std::vector<double> seven = values(Kind::gaussian, 7, 3, 8);
  std::vector<double> x;
  for (Index i = 0; i < 1100; ++i)
    x.insert(x.end(), seven.begin() + i * i % 7 * 3, seven.begin() + i * i % 7 * 3 + 3);
  const std::set<Index> kinds = {0, 1, 2, 4};  // the squares modulo 7
  for (const Storage storage : {Storage::dense_f32, Storage::dense_f64, Storage::csr_f64_i32})
    for (const Kernel& kernel : kernels) {
      const Data data(1100, 3, x, storage);
      const Made made(data.view(), kernel, 50, fwsr::is_single(data.view()));
      EXPECT_LE(made.factor.rank(), static_cast<Index>(kinds.size()));
      EXPECT_LE(made.factor.error(), single_rounding);
      for (Index i = 7; i < 1100; ++i)
        ASSERT_EQ(made.row(i), made.row(i % 7)) << "copies have equal rows, bit for bit";
    }
}

TEST(Factor, of_nothing_and_of_equal_points) {
  const Data zeros(10, 2, std::vector<double>(20, 0.0), Storage::dense_f64);
  const Kernel flat{.type = KernelType::polynomial, .gamma = 1.0, .degree = 2, .coef0 = 0};
  const Made nothing(zeros.view(), flat, 3, false);
  EXPECT_EQ(nothing.factor.rank(), 1);
  EXPECT_EQ(nothing.row(4), std::vector<double>{0});
  EXPECT_EQ(nothing.factor.error(), 0);
  const Made one(zeros.view(), kernels[0], 3, false);
  EXPECT_EQ(one.factor.rank(), 1);
  EXPECT_EQ(one.factor.error(), 0);
}

TEST(Factor, has_the_same_bits_for_any_number_of_threads) {
  for (const Storage storage : {Storage::dense_f32, Storage::dense_f64, Storage::csr_f32_i32}) {
    const Data data(2500, 9, values(Kind::clustered, 2500, 9, 9), storage);
    for (const Kernel& kernel : kernels) {
      const Made one(data.view(), kernel, 70, fwsr::is_single(data.view()), 1);
      for (const int threads : {2, 5}) {
        const Made more(data.view(), kernel, 70, fwsr::is_single(data.view()), threads);
        EXPECT_EQ(one.factor.landmarks(), more.factor.landmarks());
        EXPECT_EQ(one.factor.error(), more.factor.error());
        for (Index i = 0; i < 2500; ++i) ASSERT_EQ(one.row(i), more.row(i));
      }
    }
  }
}

TEST(Factor, survives_extreme_numbers) {
  for (const double size : {1e-15, 1e15}) {
    std::vector<double> x = values(Kind::gaussian, 40, 4, 10);
    for (double& v : x) v *= size;
    const Data data(40, 4, x, Storage::dense_f32);
    const Kernel kernel{.type = KernelType::polynomial, .gamma = 1.0, .degree = 4, .coef0 = 0};
    EXPECT_LE(largest_error(Made(data.view(), kernel, 40, true), kernel_of(data, kernel)),
              single_rounding);
  }
}

// ---- selections ----------------------------------------------------------------------------------

/// Of a factor in float32: its rounding, beside that of the form.
constexpr compare::Tolerance through_single{1e-4, 1e-6, 1e-3, 1e-5};

TEST(FactorSelection, of_full_rank_is_the_exact_one) {
  Index whole = 0;
  for (const Kernel& kernel : kernels)
    for (const double eta : {0.0, 0.4, -0.7})  // negative: relative
      for (const Storage storage : {Storage::dense_f64, Storage::dense_f32, Storage::csr_f64_i32}) {
        const Data data(40, 6, values(Kind::gaussian, 40, 6, 11), storage);
        SelectOptions o = options(6, kernel, 40);
        o.eta = std::abs(eta);
        o.eta_relative = eta < 0;
        o.lambda = 0.5, o.rho = 0.3;
        for (const bool precise : {true, false}) {
          o.precise = precise;
          const fwsr::Selection s = fwsr::select(data.view(), o);
          EXPECT_EQ(s.plan.form, FormKind::covariance);
          EXPECT_EQ(s.plan.kernel_by, KernelBy::factor);
          EXPECT_LE(s.kernel_rank, 40);
          ASSERT_TRUE(s.kernel_error);
          const auto reference = problems::reference_of(data.exact(), o, s.gamma);
          const bool single = fwsr::is_single(data.view()) && !precise;
          const auto& tolerance = single ? through_single : compare::fine;
          SCOPED_TRACE(testing::Message() << fwsr::name_of(kernel.type) << " eta " << eta
                                          << " storage " << int(storage) << " precise " << precise);
          const auto run = oracle::select(reference.k, reference.settings);
          whole += compare::expect_same_run(s, run, tolerance, true).whole;
          compare::expect_consistent(s, o, reference, tolerance);
        }
      }
  EXPECT_GE(whole, 60) << "of 72 runs";
}

TEST(FactorSelection, encodes_its_own_points_as_it_did) {
  for (const double eta : {0.0, 0.5}) {
    const Data data(300, 5, values(Kind::clustered, 300, 5, 12), Storage::dense_f64);
    SelectOptions o = options(8, kernels[0], 60);
    o.eta = eta;
    const fwsr::Selection s = fwsr::select(data.view(), o);
    EXPECT_EQ(s.coefficients->basis.size(), at(s.kernel_rank));
    const std::vector<double> again = fwsr::encode(data.view(), o, s, data.view());
    ASSERT_EQ(again.size(), s.codes.size());
    for (std::size_t i = 0; i < again.size(); ++i) ASSERT_NEAR(again[i], s.codes[i], 1e-6);
  }
}

TEST(FactorSelection, certifies_the_exemplars_with_the_kernel_itself) {
  const Data data(300, 5, values(Kind::gaussian, 300, 5, 13), Storage::dense_f64);
  const SelectOptions o = options(20, kernels[0], 25);
  const fwsr::Selection s = fwsr::select(data.view(), o);
  // ||A - P_T A||^2 / ||A||^2 by Cholesky, one exemplar after the other.
  const auto k = kernel_of(data, kernels[0]);
  Real trace = 0, kept = 0;
  std::vector<std::vector<Real>> columns;
  for (const Index e : s.exemplars) {
    std::vector<Real> v(300);
    for (Index i = 0; i < 300; ++i) v[at(i)] = k(e, i);
    for (const auto& b : columns) {
      const Real factor = b[at(e)];
      for (Index i = 0; i < 300; ++i) v[at(i)] -= factor * b[at(i)];
    }
    const Real pivot = std::sqrt(v[at(e)]);
    for (Real& x : v) x /= pivot;
    columns.push_back(v);
  }
  for (Index i = 0; i < 300; ++i) {
    trace += k(i, i);
    for (const auto& b : columns) kept += b[at(i)] * b[at(i)];
  }
  EXPECT_NEAR(s.certificate->reconstruction_error, static_cast<double>(1 - kept / trace), 1e-9);
  EXPECT_LT(s.certificate->f_at_zero, static_cast<double>(trace));
  EXPECT_NEAR(s.certificate->f_at_zero, static_cast<double>(trace) * (1 - *s.kernel_error), 1e-6);
  EXPECT_TRUE(s.certificate->feasible);
  EXPECT_GE(s.certificate->gap, 0);
  EXPECT_TRUE(std::any_of(s.warnings.begin(), s.warnings.end(),
                          [](const auto& w) { return w.find("larger rank") != w.npos; }));
}

TEST(FactorSelection, stops_where_the_points_end) {
  std::vector<double> x;
  for (Index i = 0; i < 60; ++i) x.insert(x.end(), {double(i % 4), double(i % 2)});
  const Data data(60, 2, x, Storage::dense_f32);
  SelectOptions o = options(6, kernels[0], 20);
  const fwsr::Selection s = fwsr::select(data.view(), o);
  EXPECT_EQ(s.kernel_rank, 4);
  ASSERT_EQ(s.exemplars.size(), 4U);
  EXPECT_EQ(s.status, fwsr::Status::exhausted);
  for (const Index e : s.exemplars) EXPECT_LT(e, 4) << "of copies the first";
}

TEST(FactorSelection, of_a_single_point_and_beside_a_huge_eta) {
  const Data one(1, 2, {3, 4}, Storage::dense_f32);
  EXPECT_EQ(fwsr::select(one.view(), options(1, kernels[0], 9)).exemplars, std::vector<Index>{0});
  const Data data(50, 3, values(Kind::gaussian, 50, 3, 16), Storage::dense_f32);
  for (const double eta : {1e3, 1e10, 1e20, 1e140}) {
    SelectOptions o = options(1, kernels[0], 50);
    o.eta = eta;
    const fwsr::Selection s = fwsr::select(data.view(), o);
    EXPECT_EQ(s.exemplars.size(), 1U);
    EXPECT_NEAR(s.eta / eta, 1, 1e-12);
    EXPECT_NEAR(s.eta_in_rms / eta, 1, 1e-12);
    EXPECT_LE(*s.kernel_error, single_rounding);
  }
}

TEST(FactorSelection, class_by_class_has_no_more_columns_than_points) {
  const Data data(90, 3, values(Kind::gaussian, 90, 3, 14), Storage::dense_f64);
  std::vector<std::string> labels;
  for (int i = 0; i < 90; ++i) labels.push_back(i % 9 == 0 ? "few" : "many");
  SelectOptions o = options(3, kernels[0], 40);
  const auto parts = fwsr::select_per_class(data.view(), labels, {.number = 3, .named = {}}, o);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_LE(parts[0].selection.kernel_rank, 10);
  EXPECT_FALSE(parts[0].selection.plan.notes.empty());
  EXPECT_EQ(parts[1].selection.kernel_rank, 40);
  EXPECT_TRUE(parts[1].selection.plan.notes.empty());
  for (const auto& part : parts)
    for (const Index e : part.selection.exemplars) EXPECT_EQ(labels[at(e)], part.name);
}

TEST(FactorSelection, says_what_it_cannot_do) {
  const auto problem = [](auto&& set) {
    SelectOptions o = options(3, kernels[0], 5);
    set(o);
    return fwsr::find_problem(o, 20, o.kernel.type == KernelType::precomputed ? 20 : 4);
  };
  EXPECT_FALSE(problem([](auto&) {}));
  EXPECT_FALSE(problem([](auto& o) { o.rank = 1000; })) << "capped, with a note";
  for (const auto& refused :
       {problem([](auto& o) { o.rank = -1; }), problem([](auto& o) { o.q = fwsr::Norm::one; }),
        problem([](auto& o) { o.nonneg = true; }), problem([](auto& o) { o.kernel = {}; }),
        problem([](auto& o) { o.kernel = {.type = KernelType::cosine}; }),
        problem([](auto& o) { o.kernel = {.type = KernelType::precomputed}; })}) {
    ASSERT_TRUE(refused);
    EXPECT_NE(refused->find("rank"), refused->npos) << *refused;
  }
}

TEST(FactorSelection, states_its_memory_first) {
  const Data data(3000, 4, values(Kind::gaussian, 3000, 4, 15), Storage::dense_f32);
  SelectOptions o = options(3, kernels[0], 200);
  const fwsr::Plan single = fwsr::plan(data.view(), o);
  EXPECT_EQ(single.kernel_by, KernelBy::factor);
  EXPECT_GT(single.memory_bytes, 3000 * 200 * 4);
  o.precise = true;
  EXPECT_GT(fwsr::plan(data.view(), o).memory_bytes, 3000 * 200 * 8);
  o.memory = 1 << 20;
  try {
    fwsr::plan(data.view(), o);
    FAIL() << "a megabyte cannot be enough";
  } catch (const fwsr::MemoryError& e) {
    EXPECT_NE(std::string(e.what()).find("smaller rank"), std::string::npos) << e.what();
  }
  o.rank = 0;
  try {
    fwsr::plan(data.view(), o);
    FAIL() << "a megabyte cannot be enough";
  } catch (const fwsr::MemoryError& e) {
    EXPECT_NE(std::string(e.what()).find("with a rank"), std::string::npos) << e.what();
  }
  o.threads = 2;        // each has tiles of its own
  o.memory = 20 << 20;  // tiles fit, the matrix does not
  const fwsr::Plan tiles = fwsr::plan(data.view(), o);
  ASSERT_EQ(tiles.kernel_by, KernelBy::tiles);
  ASSERT_FALSE(tiles.notes.empty());
  EXPECT_NE(tiles.notes[0].find("a rank"), std::string::npos);
}

TEST(RealFactor, of_mnist_chooses_as_well_as_the_kernel) {
  const char* folder = std::getenv("FWSR_DATA");
  const std::string path =
      (folder ? std::string(folder) : std::string(FWSR_SOURCE_DIR) + "/../shared/data") +
      "/mnist/t10k-images-idx3-ubyte.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const fwsr::Dataset data = fwsr::read_dataset(path, {}).value();
  auto view = std::get<fwsr::NarrowView>(data.view());  // bytes, as they are stored
  view.rows = 3000;
  SelectOptions o = options(25, {.type = KernelType::rbf}, 0);
  const fwsr::Selection exact = fwsr::select(view, o);
  o.rank = 512;
  const fwsr::Selection through = fwsr::select(view, o);
  EXPECT_EQ(through.kernel_rank, 512);
  EXPECT_LE(through.certificate->reconstruction_error,
            1.02 * exact.certificate->reconstruction_error);
}
