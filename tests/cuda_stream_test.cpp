// Points that are in no memory a card could read: rows that are fetched, as from a file. Skipped without a card.
#include "card_tests.hpp"
#include "lent_rows.hpp"

namespace {

using namespace card_tests;

using fwsr::LentRows;
using fwsr::MatrixView;

class CudaStream : public CardTest {};

/// Steps and answer to the last bit.
void expect_same_bits(const Selection& one, const Selection& other) {
  ASSERT_EQ(one.trace.size(), other.trace.size());
  for (std::size_t t = 0; t < one.trace.size(); ++t) {
    ASSERT_EQ(one.trace[t].pick, other.trace[t].pick) << "step " << t;
    ASSERT_EQ(one.trace[t].f, other.trace[t].f) << "step " << t;
    ASSERT_EQ(one.trace[t].gap, other.trace[t].gap) << "step " << t;
  }
  EXPECT_EQ(one.exemplars, other.exemplars);
  EXPECT_EQ(one.weights, other.weights);
  EXPECT_EQ(one.assignment, other.assignment);
  EXPECT_EQ(one.certificate->f, other.certificate->f);
  EXPECT_EQ(one.certificate->gap, other.certificate->gap);
}

/// Whoever brings the points to the card. `steady`: of problems that do not multiply rounding step by step, also as the
/// processor does.
template <class T>
void expect_picks_of_memory(Index n, Index d, unsigned seed, SelectOptions o, bool steady) {
  const std::vector<T> x = random_points<T>(n, d, seed, 1);
  const MatrixView<const T> view{x.data(), n, d};
  const LentRows<T> rows(view);
  o.assignment = o.precise = true;
  const Selection cpu = fwsr::select(view, o);
  o = on_card(o);
  {
    SCOPED_TRACE("copied once");
    const fwsr::Plan plan = fwsr::plan(rows.view(), o);
    EXPECT_FALSE(plan.device_reads_host);
    const Selection found = fwsr::select(rows.view(), o);
    expect_same_bits(found, fwsr::select(view, o));
    if (steady) expect_same(found, cpu, 1e-9);
  }
  SCOPED_TRACE("fetched for every pass");
  const Index dim = o.rank > 0 ? o.rank : d;
  o.device_memory =
      n * d * Index{sizeof(T)} + 4 * n * (o.rank > 0 ? o.rank + 12 : 12) + 100 * dim * dim;
  const fwsr::Plan plan = fwsr::plan(rows.view(), o);
  ASSERT_TRUE(plan.device_reads_host);
  const Selection found = fwsr::select(rows.view(), o);
  // As many rows at a time, where both are filled up to whole pieces.
  if (d * Index{sizeof(T)} % 16 == 0) expect_same_bits(found, fwsr::select(view, o));
  if (steady) expect_same(found, cpu, 1e-9);
}

TEST_F(CudaStream, rows_that_are_fetched_give_the_picks_of_memory) {
  unsigned seed = 4000;
  for (const auto& [n, d] : {std::pair<Index, Index>{30000, 64}, {30000, 61}, {7001, 200}})
    for (const auto center : {fwsr::Center::feature, fwsr::Center::point})
      for (const auto scale : {fwsr::Scale::none, fwsr::Scale::unit, fwsr::Scale::standard}) {
        SCOPED_TRACE(testing::Message()
                     << n << " x " << d << ", center " << static_cast<int>(center) << ", scale "
                     << static_cast<int>(scale));
        SelectOptions o{.exemplars = 9};
        o.center = center;
        o.scale = scale;
        expect_picks_of_memory<float>(n, d, seed++, o, n > 7001);
        o.eta = 0.3;
        expect_picks_of_memory<double>(n, d, seed++, o, n > 7001);
      }
}

TEST_F(CudaStream, exchange_and_factors_go_over_rows_that_are_fetched) {
  SelectOptions o{.exemplars = 8};
  o.refine = fwsr::Refine::exchange;
  expect_picks_of_memory<float>(20000, 48, 4100, o, true);
  o.kernel = {.type = fwsr::KernelType::rbf, .gamma = 0.01};
  o.rank = 24;
  expect_picks_of_memory<float>(20000, 48, 4101, o, true);
}

TEST_F(CudaStream, only_candidates_are_fetched_for_steps) {
  const Index n = 20000, d = 40;
  const std::vector<float> x = random_points<float>(n, d, 4200, 1);
  const MatrixView<const float> view{x.data(), n, d};
  SelectOptions o{.exemplars = 7};
  o.precise = true;
  for (Index i = 0; i < n; ++i) o.conditions.candidates.push_back(i % 7 == 5 || i % 3 == 1);
  const Selection cpu = fwsr::select(view, o);
  o = on_card(o);
  o.device_memory = n * d * 4 + 4 * n * 12 + 100 * d * d;
  const LentRows<float> rows(view);
  ASSERT_TRUE(fwsr::plan(rows.view(), o).device_reads_host);
  expect_same(fwsr::select(rows.view(), o), cpu, 1e-9);
}

TEST_F(CudaStream, what_is_not_a_number_is_named) {
  const Index n = 5000, d = 20;
  std::vector<float> x = random_points<float>(n, d, 4300);
  x[static_cast<std::size_t>(3210 * d + 7)] = std::numeric_limits<float>::quiet_NaN();
  const LentRows<float> rows(MatrixView<const float>{x.data(), n, d});
  SelectOptions o = on_card({.exemplars = 4});
  o.device_memory = n * d * 4 + 4 * n * 12 + 100 * d * d;
  try {
    fwsr::select(rows.view(), o);
    FAIL() << "no error";
  } catch (const fwsr::Error& e) {
    EXPECT_NE(std::string(e.what()).find("point 3210 has NaN in feature 7"), std::string::npos)
        << e.what();
  }
}

}  // namespace
