// New points by known ones: frame, values, codes, nearest and what is left out, beside their definitions.
#include "fwsr/solver/encode.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fwsr/base/at.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/options.hpp"
#include "problems.hpp"
#include "same.hpp"

namespace {

using fwsr::at;
using fwsr::Center;
using fwsr::Frame;
using fwsr::Index;
using fwsr::Kernel;
using fwsr::KernelType;
using fwsr::KnownPoints;
using fwsr::NewPoints;
using fwsr::PointsView;
using fwsr::Preprocessing;
using fwsr::Rng;
using fwsr::Scale;
using problems::Data;
using problems::Kind;
using problems::Storage;

constexpr Storage storages[] = {Storage::dense_f64, Storage::dense_f32, Storage::csr_f64_i32,
                                Storage::csr_f32_i64};

/// `few`: hardly any numbers are stored, so that sparse points stay so.
Data some_points(Index n, Index d, Storage storage, std::uint64_t seed, bool few = false) {
  Rng rng(seed);
  std::vector<double> values = problems::make_values(Kind::gaussian, n, d, false, rng);
  for (std::size_t e = 0; e < values.size(); ++e)
    values[e] = few && rng.below(20) > 0 ? 0.0 : static_cast<float>(values[e] + 0.5);
  return Data(n, d, std::move(values), storage);
}

template <class Visit>
void for_preprocessings(const Visit& visit) {
  for (const Center center : fwsr::values_of(Center{}))
    for (const Scale scale : fwsr::values_of(Scale{}))
      for (const bool normalize : {false, true})
        visit(Preprocessing{.center = center,
                            .scale = scale,
                            .eta = 0,
                            .eta_relative = false,
                            .normalize = normalize});
}

std::vector<double> rows_in(const Frame& frame, const PointsView& points) {
  std::vector<double> rows(at(fwsr::rows_of(points) * fwsr::cols_of(points)));
  load_in_frame(frame, points, 0, fwsr::rows_of(points), rows.data());
  return rows;
}

KnownPoints known_of(const PointsView& points, Index count, const Preprocessing& prep,
                     const Kernel& kernel) {
  const Frame frame = frame_of(points, prep, 2);
  std::vector<double> vectors = rows_in(frame, points);
  vectors.resize(at(count * fwsr::cols_of(points)));
  return {frame, kernel, std::move(vectors), fwsr::cols_of(points)};
}

std::vector<double> values_of_all(const KnownPoints& known, const PointsView& points, int threads) {
  std::vector<double> values(at(fwsr::rows_of(points) * known.count()));
  write_codes(NewPoints(known, points), {.codes = known.count()}, values.data(), threads);
  return values;
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double within) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], within) << i;
}

TEST(Frame, shows_points_as_the_algorithm_sees_them) {
  for (const Storage storage : storages)
    for_preprocessings([&](const Preprocessing& prep) {
      const Data data = some_points(70, 9, storage, 1);
      const fwsr::Points points(data.view(), {}, prep, 2);
      std::vector<double> expected(at(70 * 9));
      points.rows(0, 70, expected.data());
      for (double& v : expected) v /= points.unit();
      expect_near(rows_in(frame_of(data.view(), prep, 2), data.view()), expected, 1e-13);
    });
}

TEST(Frame, keeps_its_digits_where_squares_leave_the_range_of_numbers) {
  for (const double size : {1e-200, 1e200}) {
    std::vector<double> values = {1 * size, 2 * size, 3 * size, 5 * size, 2 * size, 4 * size};
    const Data data(3, 2, values, Storage::dense_f64);
    const Frame frame =
        frame_of(data.view(), {.center = Center::none, .scale = Scale::standard}, 1);
    EXPECT_NEAR(frame.deviation[0] / size, std::sqrt(2.0 / 3), 1e-15);
    EXPECT_NEAR(frame.deviation[1] / size, std::sqrt(14.0 / 9), 1e-15);
  }
}

TEST(Encode, points_that_stay_sparse_get_the_values_of_dense_ones) {
  for_preprocessings([&](const Preprocessing& prep) {
    const Data sparse = some_points(60, 80, Storage::csr_f64_i32, 2, true);
    const Data dense = some_points(60, 80, Storage::dense_f64, 2, true);
    const KnownPoints known = known_of(dense.view(), 7, prep, {});
    expect_near(values_of_all(known, sparse.view(), 1), values_of_all(known, dense.view(), 1),
                1e-13 * (prep.scale == Scale::standard ? 1000 : 10));
  });
}

TEST(Encode, bits_do_not_depend_on_threads_nor_on_where_float_numbers_are_stored) {
  for (const KernelType type : fwsr::values_of(KernelType{})) {
    if (type == KernelType::precomputed) continue;
    const Kernel kernel{.type = type, .gamma = 0.3};
    const Preprocessing prep{.center = Center::feature, .scale = Scale::standard};
    const Data wide = some_points(3000, 11, Storage::dense_f64, 3);
    const KnownPoints known = known_of(wide.view(), 13, prep, kernel);
    const std::vector<double> one = values_of_all(known, wide.view(), 1);
    for (const int threads : {2, 3, 8})
      same::expect_same_bits(one, values_of_all(known, wide.view(), threads), "values");
    const Data narrow = some_points(3000, 11, Storage::dense_f32, 3);
    same::expect_same_bits(one, values_of_all(known, narrow.view(), 2), "values of float32");
  }
}

TEST(Encode, values_are_those_of_the_formula) {
  for (const KernelType type : fwsr::values_of(KernelType{})) {
    const fwsr::KernelFormula& formula = fwsr::formula_of(type);
    if (formula.of == fwsr::KernelOf::matrix || formula.normalize) continue;
    const Kernel kernel{.type = type, .gamma = 0.3};
    const Data data = some_points(40, 5, Storage::dense_f64, 4);
    const Preprocessing prep{.center = Center::none};
    const std::vector<double> rows = rows_in(frame_of(data.view(), prep, 1), data.view());
    const std::vector<double> values =
        values_of_all(known_of(data.view(), 6, prep, kernel), data.view(), 1);
    for (Index i = 0; i < 40; ++i)
      for (Index j = 0; j < 6; ++j) {
        double product = 0, squared = 0, absolute = 0;
        for (Index l = 0; l < 5; ++l) {
          const double a = rows[at(i * 5 + l)], b = rows[at(j * 5 + l)];
          product += a * b, squared += (a - b) * (a - b), absolute += std::abs(a - b);
        }
        const double x = formula.of == fwsr::KernelOf::products            ? product
                         : formula.of == fwsr::KernelOf::squared_distances ? squared
                                                                           : absolute;
        const double wanted = formula.value(numbers_of(kernel, 1), x);
        EXPECT_NEAR(values[at(i * 6 + j)], wanted, 1e-13 * (1 + std::abs(wanted))) << formula.name;
      }
  }
}

TEST(Encode, values_of_tiny_points_are_those_of_points_near_one) {
  for (const KernelType type : {KernelType::rbf, KernelType::laplacian}) {
    const Data data = some_points(50, 4, Storage::dense_f64, 10);
    std::vector<double> tiny = rows_in({}, data.view());
    for (double& v : tiny) v *= 0x1p-500;
    const Data small(50, 4, tiny, Storage::dense_f64);
    const Preprocessing prep{.center = Center::none};
    const double gamma = type == KernelType::rbf ? std::ldexp(0.25, 1000) : std::ldexp(0.25, 500);
    expect_near(values_of_all(known_of(small.view(), 5, prep, {.type = type, .gamma = gamma}),
                              small.view(), 1),
                values_of_all(known_of(data.view(), 5, prep, {.type = type, .gamma = 0.25}),
                              data.view(), 1),
                1e-15);
  }
}

TEST(Encode, the_nearest_is_found_and_of_equal_ones_the_first) {
  const Data data = some_points(900, 6, Storage::dense_f64, 5);
  std::vector<double> vectors = rows_in({}, data.view());
  vectors.resize(6 * 4);
  std::copy_n(vectors.begin(), 6, vectors.begin() + 18);  // the last is the first again
  const KnownPoints known = KnownPoints::by_absolute_distance({}, vectors, 6);
  const std::vector<double> distances = values_of_all(known, data.view(), 1);
  const std::vector<double> add(4), times(4, 1.0);
  std::vector<std::int64_t> nearest(900);
  const double sum =
      find_nearest(NewPoints(known, data.view()),
                   {.add = add.data(), .times = times.data(), .count = 4}, nearest.data(), 2);
  double expected = 0;
  for (Index i = 0; i < 900; ++i) {
    const auto first = distances.begin() + i * 4;
    EXPECT_EQ(nearest[at(i)], std::min_element(first, first + 4) - first);
    EXPECT_LT(nearest[at(i)], 3);
    expected += *std::min_element(first, first + 4);
  }
  EXPECT_NEAR(sum, expected, 1e-11 * expected);
}

TEST(Encode, shares_of_orthonormal_vectors_and_the_rest_are_all_there_is) {
  for (const Storage storage : storages) {
    const Data data = some_points(700, 5, storage, 6);
    const std::vector<double> vectors = {1, 0, 0, 0, 0, 0, 0.6, 0.8, 0, 0};
    const KnownPoints known({}, {}, vectors, 5);
    const fwsr::Shares shares = find_shares(NewPoints(known, data.view()), {}, {}, 2);
    const std::vector<double> rows = rows_in({}, data.view());
    double first = 0, second = 0, total = 0;
    for (Index i = 0; i < 700; ++i) {
      const double* const x = rows.data() + i * 5;
      first += x[0] * x[0];
      second += (0.6 * x[1] + 0.8 * x[2]) * (0.6 * x[1] + 0.8 * x[2]);
      for (Index l = 0; l < 5; ++l) total += x[l] * x[l];
    }
    EXPECT_NEAR(shares.explained[0], first, 1e-11 * total);
    EXPECT_NEAR(shares.explained[1], second, 1e-11 * total);
    EXPECT_NEAR(shares.total, total, 1e-11 * total);
    EXPECT_NEAR(shares.rest, total - first - second, 1e-11 * total);
  }
}

TEST(Encode, columns_of_a_matrix_are_taken_as_they_are) {
  const Data data = some_points(30, 12, Storage::csr_f64_i32, 7);
  const std::vector<double> rows = rows_in({}, data.view());
  const std::vector<double> values = values_of_all(KnownPoints({7, 2}), data.view(), 1);
  for (Index i = 0; i < 30; ++i) {
    EXPECT_EQ(values[at(2 * i)], rows[at(12 * i + 7)]);
    EXPECT_EQ(values[at(2 * i + 1)], rows[at(12 * i + 2)]);
  }
  EXPECT_THROW(NewPoints(KnownPoints({12}), data.view()), fwsr::Error);
}

TEST(Encode, refuses_points_with_other_features_and_what_is_no_number) {
  const Data data = some_points(20, 4, Storage::dense_f64, 8);
  const KnownPoints known = known_of(data.view(), 3, {}, {});
  const Data other = some_points(20, 5, Storage::dense_f64, 8);
  EXPECT_THROW(NewPoints(known, other.view()), fwsr::Error);
  const Frame frame = frame_of(data.view(), {.center = Center::feature}, 1);
  EXPECT_THROW(rows_in(frame, other.view()), fwsr::Error);
  EXPECT_THROW(KnownPoints(frame, {}, std::vector<double>(8), 4, {1.0}), fwsr::Error);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    for (const Storage storage : {Storage::dense_f64, Storage::csr_f64_i32}) {
      std::vector<double> values(at(20 * 4), 1.0);
      values[37] = bad;
      const Data broken(20, 4, values, storage);
      EXPECT_THROW(values_of_all(known, broken.view(), 2), fwsr::Error);
    }
}

TEST(Encode, finds_some_nearest_where_products_overflow) {
  const Data data = some_points(20, 4, Storage::dense_f64, 9);
  const KnownPoints known = known_of(data.view(), 3, {}, {});
  std::vector<double> values(at(2 * 4), 1.0);
  values[1] = std::numeric_limits<double>::max();
  values[2] = -std::numeric_limits<double>::max();
  const Data large(2, 4, values, Storage::dense_f64);
  const std::vector<double> add{1, 2, 1e300}, times{-2, -1e300, 1e300};
  for (const double rounding : {0.0, 1e-14}) {
    std::vector<std::int64_t> nearest(2, -1);
    find_nearest(NewPoints(known, large.view()),
                 {.add = add.data(), .times = times.data(), .count = 3, .rounding = rounding},
                 nearest.data(), 1);
    for (const std::int64_t j : nearest) {
      EXPECT_GE(j, 0);
      EXPECT_LT(j, 3);
    }
  }
}

TEST(Encode, stops_when_told_to) {
  const Data data = some_points(5000, 4, Storage::dense_f64, 9);
  const KnownPoints known = known_of(data.view(), 3, {}, {});
  std::vector<double> values(at(5000 * 3));
  EXPECT_THROW(write_codes(NewPoints(known, data.view()), {.codes = 3}, values.data(), 2,
                           [] { return false; }),
               fwsr::Interrupted);
  EXPECT_THROW(frame_of(data.view(), {.center = Center::feature}, 2, [] { return false; }),
               fwsr::Interrupted);
}

}  // namespace
