// What a page says about every point, against the same said slowly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fwsr/base/at.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/report/groups.hpp"
#include "fwsr/report/measure.hpp"
#include "fwsr/report/plane.hpp"
#include "fwsr/report/sample.hpp"
#include "fwsr/report/triangle.hpp"
#include "problems.hpp"

namespace fwsr::report {
namespace {

using problems::Data;
using problems::Kind;
using problems::Storage;

Data points_of(std::uint64_t seed, Index n, Index d, Storage storage = Storage::dense_f64,
               Kind kind = Kind::clustered) {
  Rng rng(seed);
  return Data(n, d, problems::make_values(kind, n, d, true, rng), storage);
}

/// Rows as lists of numbers, each less its mean where `centred`.
std::vector<std::vector<double>> rows_in(const Data& data, bool centred) {
  const auto exact = data.exact();
  std::vector<std::vector<double>> rows;
  for (Index i = 0; i < data.rows(); ++i) {
    rows.emplace_back();
    for (Index j = 0; j < data.cols(); ++j) rows.back().push_back(static_cast<double>(exact(i, j)));
    double mean = 0;
    for (const double v : rows.back()) mean += v / static_cast<double>(data.cols());
    for (double& v : rows.back()) v -= centred ? mean : 0;
  }
  return rows;
}

double inner(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t l = 0; l < a.size(); ++l) sum += a[l] * b[l];
  return sum;
}

/// What is left of every row beyond the span of some of them, by Gram and Schmidt, row by row.
std::vector<std::vector<double>> left_by_hand(std::vector<std::vector<double>> rows,
                                              const std::vector<Index>& exemplars) {
  for (const Index t : exemplars) {
    std::vector<double> direction = rows[at(t)];
    const double square = inner(direction, direction);
    if (square < 1e-18) continue;
    for (std::vector<double>& row : rows)
      for (int twice = 0; twice < 2; ++twice) {
        const double along = inner(row, direction) / square;
        for (std::size_t l = 0; l < row.size(); ++l) row[l] -= along * direction[l];
      }
  }
  return rows;
}

struct Answer {
  Request request;
  Selection selection;
  Run run() const { return {.selection = &selection, .options = request.options}; }
};
Answer answer_of(const PointsView& view, SelectOptions o, const std::string& method = "fwsr") {
  o.threads = 2;
  o.assignment = true;
  Answer a{.request = Request(o, {.name = method}), .selection = {}};
  a.selection = a.request.run(view, a.request.plan(view));
  return a;
}

class MeasuredStorage : public ::testing::TestWithParam<Storage> {};

TEST_P(MeasuredStorage, every_point_against_the_slow_way) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Data data = points_of(seed, 60, 9, GetParam());
    const Answer a = answer_of(data.view(), {.exemplars = 5});
    const Measured found = measure(data.view(), {a.run()}, {}, 2);
    const auto rows = rows_in(data, true);
    const auto left = left_by_hand(rows, a.selection.exemplars);
    double mean = 0;
    for (const auto& row : rows) mean += inner(row, row) / 60;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double square = inner(rows[i], rows[i]), rest = inner(left[i], left[i]);
      EXPECT_NEAR(found.left[i], rest / square, 2e-5);
      EXPECT_NEAR(found.amount[i], rest / mean, 2e-5);
      EXPECT_EQ(found.group[i], a.selection.assignment[i]);
      const auto& exemplar = rows[at(a.selection.exemplars[at(found.group[i])])];
      std::vector<double> apart = rows[i];
      for (std::size_t l = 0; l < apart.size(); ++l) apart[l] -= exemplar[l];
      EXPECT_NEAR(found.distance[i], std::sqrt(inner(apart, apart) / mean), 1e-3);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, MeasuredStorage,
                         ::testing::Values(Storage::dense_f32, Storage::dense_f64,
                                           Storage::csr_f32_i32, Storage::csr_f64_i64));

TEST(ReportMeasure, errors_of_prefixes_end_with_that_of_the_certificate) {
  const Data data = points_of(4, 150, 12);
  for (const char* method : {"fwsr", "k-fwsr", "exchange", "greedy-cssp", "random"}) {
    const Answer a = answer_of(data.view(), {.exemplars = 7}, method);
    const Measured found = measure(data.view(), {a.run()}, {}, 2);
    ASSERT_EQ(found.error.size(), 7u) << method;
    EXPECT_NEAR(found.error.back(), a.selection.certificate->reconstruction_error, 1e-9) << method;
    EXPECT_TRUE(std::is_sorted(found.error.rbegin(), found.error.rend())) << method;
    EXPECT_EQ(found.random.size(), 7u);
    for (std::size_t t = 0; t < 7; ++t) {
      const auto left = left_by_hand(rows_in(data, true),
                                     {a.selection.exemplars.begin(),
                                      a.selection.exemplars.begin() + static_cast<Index>(t) + 1});
      if (std::string(method) != "fwsr") continue;
      double all = 0, rest = 0;
      for (const auto& row : rows_in(data, true)) all += inner(row, row);
      for (const auto& row : left) rest += inner(row, row);
      EXPECT_NEAR(found.error[t], rest / all, 1e-9);
    }
  }
}

TEST(ReportMeasure, groups_without_an_assignment_are_those_of_the_run) {
  const Data data = points_of(5, 200, 8);
  Answer a = answer_of(data.view(), {.exemplars = 6}, "k-fwsr");
  const std::vector<Index> own = std::exchange(a.selection.assignment, {});
  const Measured found = measure(data.view(), {a.run()}, {}, 2);
  EXPECT_TRUE(std::equal(own.begin(), own.end(), found.group.begin(), found.group.end()));
}

TEST(ReportPrefixes, the_first_exemplars_have_the_groups_of_a_run_with_these_alone) {
  for (const bool counted : {false, true}) {
    const Data data = points_of(11, 300, 6);
    const Answer a = answer_of(data.view(), {.exemplars = 9});
    std::vector<double> weights(300, 1.0);
    for (std::size_t i = 0; i < 300 && counted; ++i) weights[i] = 0.1 * static_cast<double>(i % 7);
    const Measured found =
        measure(data.view(), {a.run()},
                counted ? std::span<const double>(weights) : std::span<const double>(), 4);
    ASSERT_TRUE(found.prefixes.known());
    for (std::size_t k = 1; k <= 9; ++k) {
      Answer first = a;
      first.selection.exemplars.resize(k);
      first.selection.assignment.clear();
      const Measured alone = measure(data.view(), {first.run()}, {}, 1);
      std::vector<double> stands(9), moved(9);
      for (std::size_t i = 0; i < 300; ++i) {
        stands[at(alone.group[i])] += weights[i];
        std::int32_t last = -1;
        for (const std::int32_t t : found.prefixes.of(static_cast<Index>(i)))
          if (at(t) < k) last = t;
        EXPECT_EQ(last, alone.group[i]) << i << " of the first " << k;
      }
      for (const Move& move : found.prefixes.moves())
        if (at(move.to) < k) {
          moved[at(move.to)] += move.weight;
          if (move.from >= 0) moved[at(move.from)] -= move.weight;
        }
      for (std::size_t t = 0; t < 9; ++t) EXPECT_NEAR(moved[t], stands[t], 1e-9);
    }
  }
}

TEST(ReportPrefixes, stories_that_are_too_long_are_not_told) {
  // Every exemplar is nearer to the point than the one before it.
  std::vector<double> values(100, 0.0), squares(100);
  for (std::size_t t = 0; t < 100; ++t) squares[t] = 100.0 - static_cast<double>(t);
  PrefixGroups few({0}, 1), many({0}, 1);
  few.begin_run(0, 60);
  few.add(0, values.data(), squares.data(), 59, 1);
  few.end_run();
  EXPECT_TRUE(few.known());
  EXPECT_EQ(few.of(0).size(), 60u);
  EXPECT_EQ(few.moves().size(), 60u);
  many.begin_run(0, 100);
  many.add(0, values.data(), squares.data(), 99, 1);
  many.end_run();
  EXPECT_FALSE(many.known());
  EXPECT_TRUE(many.of(0).empty());
  EXPECT_TRUE(many.moves().empty());
}

TEST(ReportMeasure, weights_count_and_threads_do_not) {
  const Data data = points_of(6, 700, 8);
  const Answer a = answer_of(data.view(), {.exemplars = 5});
  std::vector<double> weights(700, 1.0);
  for (std::size_t i = 0; i < 350; ++i) weights[i] = 0;
  const Measured one = measure(data.view(), {a.run()}, weights, 1),
                 many = measure(data.view(), {a.run()}, weights, 8);
  EXPECT_EQ(one.error, many.error);
  EXPECT_EQ(one.random, many.random);
  EXPECT_EQ(one.left, many.left);
  EXPECT_EQ(one.distance, many.distance);
  double all = 0, rest = 0;
  const auto rows = rows_in(data, true), left = left_by_hand(rows, a.selection.exemplars);
  for (std::size_t i = 350; i < 700; ++i)
    all += inner(rows[i], rows[i]), rest += inner(left[i], left[i]);
  EXPECT_NEAR(one.error.back(), rest / all, 1e-9);
}

TEST(ReportMeasure, a_given_kernel_says_the_same_as_the_points) {
  const Data data = points_of(7, 50, 6);
  const auto rows = rows_in(data, false);
  std::vector<double> kernel;
  for (const auto& a : rows)
    for (const auto& b : rows) kernel.push_back(inner(a, b));
  const Data matrix(50, 50, kernel, Storage::dense_f64);
  const Answer by_points = answer_of(data.view(), {.exemplars = 4, .center = Center::none});
  const Answer by_matrix =
      answer_of(matrix.view(), {.exemplars = 4, .kernel = {.type = KernelType::precomputed}});
  ASSERT_EQ(by_points.selection.exemplars, by_matrix.selection.exemplars);
  const Measured a = measure(data.view(), {by_points.run()}, {}, 1),
                 b = measure(matrix.view(), {by_matrix.run()}, {}, 1);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_NEAR(a.left[i], b.left[i], 1e-4);
  for (std::size_t t = 0; t < 4; ++t) EXPECT_NEAR(a.error[t], b.error[t], 1e-9);
}

TEST(ReportMeasure, classes_are_measured_each_in_its_own_space) {
  const Data data = points_of(8, 90, 7);
  std::vector<std::string> words;
  for (int i = 0; i < 90; ++i) words.push_back(i % 3 == 0 ? "a" : "b");
  const Request request({.exemplars = 3, .assignment = true, .threads = 1}, {.name = "fwsr"});
  const auto parts = request.run_per_class(
      data.view(), request.plan_per_class(data.view(), words, {.number = 3}), {});
  std::vector<report::Run> runs;
  for (const ClassSelection& part : parts)
    runs.push_back(
        {.selection = &part.selection, .members = part.members, .options = request.options});
  const Measured found = measure(data.view(), runs, {}, 2);
  for (std::size_t i = 0; i < 90; ++i) EXPECT_EQ(found.group[i] < 3, words[i] == "a");
  double rest = 0, all = 0;
  for (const ClassSelection& part : parts) {
    rest += part.selection.certificate->reconstruction_error * part.selection.f_at_zero;
    all += part.selection.f_at_zero;
  }
  EXPECT_NEAR(found.error.back(), rest / all, 1e-9);
}

TEST(ReportMeasure, vectors_within_the_span_of_others_add_nothing) {
  // 2 x the first, and a copy of the second.
  const std::vector<std::vector<double>> rows = {
      {1, 2, 0}, {2, 4, 0}, {0, 1, 1}, {0, 1, 1}, {1, 0, 0}};
  std::vector<double> gram;
  for (const auto& a : rows)
    for (const auto& b : rows) gram.push_back(inner(a, b));
  const std::vector<double> inverse = inverse_triangle(gram, 5);
  for (Index a = 0; a < 5; ++a)
    for (Index b = 0; b < 5; ++b) {
      double sum = 0;
      for (Index l = 0; l < 5; ++l)
        for (Index m = 0; m < 5; ++m)
          sum += inverse[at(a * 5 + l)] * gram[at(l * 5 + m)] * inverse[at(b * 5 + m)];
      EXPECT_NEAR(sum, a == b && a != 1 && a != 3 ? 1 : 0, 1e-9);
    }
}

TEST(ReportPlane, components_spread_as_far_as_any_other_direction) {
  const Data data = points_of(9, 120, 6, Storage::dense_f32, Kind::low_rank);
  const Answer a = answer_of(data.view(), {.exemplars = 3});
  const Rows rows{.name = "", .points = data.view()};
  const std::vector<Index> all = evenly_spaced(120, 120);
  const Plane plane = plane_of(rows, a.run(), {}, all, 2);
  const auto spread = [](const std::vector<double>& v) {
    double mean = 0, sum = 0;
    for (const double x : v) mean += x / static_cast<double>(v.size());
    for (const double x : v) sum += (x - mean) * (x - mean);
    return sum;
  };
  EXPECT_GE(spread(plane.x), spread(plane.y));
  double along = 0;
  for (std::size_t i = 0; i < 120; ++i) along += plane.x[i] * plane.y[i];
  EXPECT_NEAR(along, 0, 1e-2 * spread(plane.x));
  // No direction tried has more; the rows are in the same unit, up to a power of two.
  const auto exact = rows_in(data, false);
  Rng rng(3);
  double most = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<double> direction(6);
    for (double& v : direction) v = rng.normal();
    const double length = std::sqrt(inner(direction, direction));
    std::vector<double> places;
    for (const auto& row : exact) places.push_back(inner(row, direction) / length);
    most = std::max(most, spread(places));
  }
  const double unit = std::exp2(std::round(std::log2(spread(plane.x) / most) / 2));
  EXPECT_GE(spread(plane.x) / unit / unit, most * 0.999);

  const Plane columns = plane_of(rows, a.run(), std::vector<Index>{4, 1}, all, 2);
  for (std::size_t i = 0; i < 120; ++i) EXPECT_EQ(columns.x[i], exact[i][4]);
  EXPECT_EQ(columns.up, "x1");
}

TEST(ReportGroups, nearest_farthest_and_worst_are_what_sorting_says) {
  const Data data = points_of(10, 150, 5);
  const Answer a = answer_of(data.view(), {.exemplars = 6});
  const Measured found = measure(data.view(), {a.run()}, {}, 2);
  const Rows rows{.name = "", .points = data.view()};
  const auto groups = groups_of(rows, Classes(rows), found, a.selection.exemplars, 4);
  for (std::size_t t = 0; t < groups.size(); ++t) {
    std::vector<std::pair<float, Index>> members;
    Index points = 0;
    for (Index i = 0; i < 150; ++i)
      if (found.group[at(i)] == static_cast<Index>(t)) {
        ++points;
        if (a.selection.exemplars[t] != i) members.emplace_back(found.distance[at(i)], i);
      }
    std::sort(members.begin(), members.end());
    EXPECT_EQ(groups[t].points, points);
    EXPECT_EQ(static_cast<double>(points), a.selection.weights[t]);
    ASSERT_EQ(groups[t].nearest.size(), std::min<std::size_t>(4, members.size()));
    for (std::size_t m = 0; m < groups[t].nearest.size(); ++m)
      EXPECT_EQ(groups[t].nearest[m], members[m].second);
    for (const Index far : groups[t].farthest)
      EXPECT_EQ(std::count(groups[t].nearest.begin(), groups[t].nearest.end(), far), 0);
    if (!groups[t].farthest.empty()) {
      EXPECT_EQ(found.distance[at(groups[t].farthest[0])], members.back().first);
    }
  }
  const std::vector<Index> worst = largest(found.left, 10);
  EXPECT_EQ(found.left[at(worst[0])], *std::max_element(found.left.begin(), found.left.end()));
  for (std::size_t w = 1; w < worst.size(); ++w)
    EXPECT_GE(found.left[at(worst[w - 1])], found.left[at(worst[w])]);
}

}  // namespace
}  // namespace fwsr::report
