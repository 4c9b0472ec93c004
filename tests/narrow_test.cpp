// Points of one or two bytes a number, where they stand: the answers of the same numbers in float32, bit for bit; of
// bytes, whose sums are exact, to within the rounding that float32 then has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "binary_files.hpp"
#include "compare.hpp"
#include "fwsr/data/read.hpp"
#include "fwsr/linalg/pass_table.hpp"
#include "fwsr/linalg/processor.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/solver/select.hpp"
#include "fwsr/solver/select_points.hpp"
#include "memory_file.hpp"
#include "narrow_points.hpp"
#include "same.hpp"

namespace fwsr {
namespace {

// ----------------------------------------------------------------------------------------- loops

struct Loops {
  const char* name;
  const PassLoops* loops;
};
std::vector<Loops> all_loops() {
  std::vector<Loops> all{{"base", &pass_base}};
#if defined(__x86_64__)
  if (available_instructions() >= Instructions::avx2) all.push_back({"avx2", &pass_avx2});
  if (available_instructions() >= Instructions::avx512) all.push_back({"avx512", &pass_avx512});
#endif
  return all;
}

TEST(Narrow, every_number_is_the_float32_that_it_is) {
  for (const Loops& set : all_loops())
    for (const NarrowNumber number : all_numbers)
      with_narrow(number, [&]<class T>(T) {
        SCOPED_TRACE(::testing::Message() << set.name << ", " << name_of(number));
        std::vector<T> all(std::size_t{1} << (8 * sizeof(T)));
        for (std::size_t v = 0; v < all.size(); ++v) std::memcpy(&all[v], &v, sizeof(T));
        std::vector<float> wide(all.size() - 3);  // from the second on, and a rest
        set.loops->narrow[static_cast<int>(number)].widen(all.data() + 1, std::ssize(wide),
                                                          wide.data());
        for (std::size_t v = 0; v < wide.size(); ++v) {
          const double wanted = value_of(all[v + 1]);
          if (std::isnan(wanted)) {
            ASSERT_TRUE(std::isnan(wide[v]) && std::isnan(widened(all[v + 1]))) << v;
          } else {
            ASSERT_EQ(same::bits(wide[v]), same::bits(wanted)) << v;
            ASSERT_EQ(same::bits(widened(all[v + 1])), same::bits(wanted)) << v;
          }
        }
      });
}

TEST(Narrow, passes_have_the_bits_of_float32) {
  const Index shapes[][2] = {{1, 1}, {3, 8}, {4, 9}, {33, 31}, {64, 32}, {190, 63}, {9, 5000}};
  for (const Loops& set : all_loops())
    for (const NarrowNumber number : all_numbers)
      for (const auto& [n, d] : shapes) {
        SCOPED_TRACE(::testing::Message()
                     << set.name << ", " << name_of(number) << ", " << n << " x " << d);
        const Twin twin(number, n, d, 5);
        Rng rng(6);
        const Index padded = padded_length(d);
        std::vector<double> vectors(at(3 * padded));
        for (Index l = 0; l < d; ++l)
          for (Index k = 0; k < 3; ++k) vectors[at(k * padded + l)] = rng.normal();
        const double* const u = vectors.data();
        const PassVectors with{.u = u,
                               .v = u + padded,
                               .w = u + 2 * padded,
                               .products = {.x = {.every_inner = 0.5, .offset = 1}}};
        const ScoreStep step{.gamma = 0.3, .length = 0.01};
        std::vector<const float*> wide_rows;
        for (Index i = 0; i < n; ++i) wide_rows.push_back(twin.wide().row(i).data());
        const Rows<float> wide{.rows = wide_rows.data(), .count = n, .d = d};
        std::vector<double> r(at(n), 1.0), c(at(n), 2.0), h(at(n), 3.0), x(at(n));
        std::vector<double> own_c = c, own_h = h, own_x = x;
        set.loops->one_single(wide, u, x.data());
        const double most = set.loops->pass_single(wide, with, step, r.data(), c.data(), h.data());
        with_narrow(number, [&]<class T>(T) {
          std::vector<const T*> rows;
          for (Index i = 0; i < wide.count; ++i)
            rows.push_back(reinterpret_cast<const T*>(twin.narrow().address(i)));
          const Rows<T> own{.rows = rows.data(), .count = wide.count, .d = wide.d};
          const NarrowLoops& loops = set.loops->narrow[static_cast<int>(number)];
          loops.one(&own, u, own_x.data());
          EXPECT_EQ(same::bits(most),
                    same::bits(loops.pass(&own, with, step, r.data(), own_c.data(), own_h.data())));
        });
        same::expect_same_bits(x, own_x, "products");
        same::expect_same_bits(c, own_c, "scores");
        same::expect_same_bits(h, own_h, "h");
      }
}

// ------------------------------------------------------------------------------------ whole runs

SelectOptions some_options(Index k) {
  SelectOptions o;
  o.exemplars = k;
  o.codes = o.assignment = true;
  o.threads = 2;
  return o;
}

/// Two answers that differ by the rounding of set-ups only.
void expect_near(const Selection& a, const Selection& b) {
  EXPECT_EQ(a.exemplars, b.exemplars);
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.plan.form, b.plan.form);
  const double f0 = a.f_at_zero;
  EXPECT_NEAR(f0, b.f_at_zero, compare::coarse.value * f0);
  ASSERT_EQ(a.trace.size(), b.trace.size());
  for (std::size_t t = 0; t < a.trace.size(); ++t) {
    EXPECT_EQ(a.trace[t].pick, b.trace[t].pick) << t;
    EXPECT_NEAR(a.trace[t].f, b.trace[t].f, compare::coarse.value * f0) << t;
    if (std::isfinite(a.trace[t].gap)) {
      EXPECT_NEAR(a.trace[t].gap, b.trace[t].gap,
                  compare::coarse.value * (f0 + std::abs(a.trace[t].gap)))
          << t;
    }
  }
  ASSERT_EQ(a.certificate.has_value(), b.certificate.has_value());
  if (a.certificate) {
    EXPECT_NEAR(a.certificate->f, b.certificate->f, compare::coarse.value * f0);
  }
}

void compare_answers(const Twin& twin, const Selection& narrow, const Selection& wide) {
  if (twin.exact() && narrow.plan.form == FormKind::covariance)
    expect_near(narrow, wide);
  else
    same::expect_same(narrow, wide);
}
void expect_same_answer(const Twin& twin, const SelectOptions& o) {
  compare_answers(twin, select(twin.narrow(), o), select(twin.wide(), o));
}

TEST(NarrowRuns, every_form_and_kernel) {
  for (const NarrowNumber number : all_numbers)
    for (const Index d : {7, 40}) {
      const Twin twin(number, 331, d, 9);
      for (const KernelType kernel : {KernelType::linear, KernelType::rbf, KernelType::laplacian,
                                      KernelType::polynomial, KernelType::cosine})
        for (const auto& [form, by] : compare::forms_for(kernel)) {
          SCOPED_TRACE(::testing::Message() << name_of(number) << ", " << d << ", "
                                            << name_of(kernel) << ", " << name_of(form));
          SelectOptions o = some_options(6);
          o.kernel.type = kernel;
          Plan how = plan(twin.wide(), o);
          how.form = form;
          how.kernel_by = by;
          compare_answers(twin, select_points(twin.narrow(), {}, o, how, {}),
                          select_points(twin.wide(), {}, o, how, {}));
        }
      for (const auto& change : std::vector<std::function<void(SelectOptions&)>>{
               [](SelectOptions& o) { o.q = Norm::one; },
               [](SelectOptions& o) { o.q = Norm::infinity; },
               [](SelectOptions& o) { o.kernel.type = KernelType::rbf, o.rank = 40; },
               [](SelectOptions& o) { o.eta = 0.5, o.eta_relative = true; },
               [](SelectOptions& o) { o.precise = true; },
               [](SelectOptions& o) { o.lambda = 0.1, o.rho = 0.2; }}) {
        SCOPED_TRACE(::testing::Message() << name_of(number) << ", " << d << ", an option");
        SelectOptions o = some_options(6);
        change(o);
        expect_same_answer(twin, o);
      }
    }
}

TEST(NarrowRuns, every_centring_and_scaling) {
  for (const NarrowNumber number : all_numbers)
    for (const Index d : {5, 64})
      for (const Center center : {Center::none, Center::point, Center::feature})
        for (const Scale scale : {Scale::none, Scale::standard, Scale::unit}) {
          SCOPED_TRACE(::testing::Message() << name_of(number) << ", " << d << ", "
                                            << name_of(center) << ", " << name_of(scale));
          SelectOptions o = some_options(5);
          o.center = center;
          o.scale = scale;
          o.eta = scale == Scale::unit ? 0.5 : 0;
          o.eta_relative = true;
          expect_same_answer(Twin(number, 1543, d, 10), o);
        }
}

TEST(NarrowRuns, class_by_class_and_for_any_threads) {
  const Twin twin(NarrowNumber::uint8, 3001, 50, 11);
  std::vector<std::string> labels;
  for (Index i = 0; i < 3001; ++i) labels.push_back(std::to_string(i / 5 % 3));
  const ClassCounts counts{.number = 4, .named = {}};
  SelectOptions o = some_options(1);
  o.threads = 1;
  const auto one = select_per_class(twin.narrow(), labels, counts, o);
  const auto wide = select_per_class(twin.wide(), labels, counts, o);
  o.threads = 3;
  const auto three = select_per_class(twin.narrow(), labels, counts, o);
  ASSERT_EQ(one.size(), 3u);
  for (std::size_t c = 0; c < one.size(); ++c) {
    same::expect_same(one[c].selection, three[c].selection);
    expect_near(one[c].selection, wide[c].selection);
  }
}

TEST(NarrowRuns, rows_longer_than_a_buffer) {
  for (const NarrowNumber number : {NarrowNumber::int16, NarrowNumber::float16})
    expect_same_answer(Twin(number, 12, 40000, 12), some_options(4));
}

TEST(NarrowRuns, new_points) {
  const Twin known(NarrowNumber::float16, 300, 20, 13), fresh(NarrowNumber::bfloat16, 200, 20, 14);
  const SelectOptions o = some_options(5);
  const Selection s = select(known.narrow(), o);
  same::expect_same_bits(encode(known.narrow(), o, s, fresh.narrow()),
                         encode(known.wide(), o, s, fresh.wide()), "codes");
}

class NarrowMethod : public ::testing::TestWithParam<std::string> {};

TEST_P(NarrowMethod, chooses_the_same) {
  for (const NarrowNumber number :
       {NarrowNumber::uint8, NarrowNumber::int16, NarrowNumber::bfloat16}) {
    const Twin twin(number, 90, 12, 15);
    const MethodChoice choice{.name = GetParam(), .settings = {}, .seed = 3};
    SelectOptions o;
    o.exemplars = 5;
    o.threads = 2;
    SCOPED_TRACE(name_of(number));
    same::expect_same_bits(select(twin.wide(), o, choice).weights,
                           select(twin.narrow(), o, choice).weights, "weights");
    EXPECT_EQ(select(twin.wide(), o, choice).exemplars, select(twin.narrow(), o, choice).exemplars);
  }
}

std::vector<std::string> method_names() {
  std::vector<std::string> all;
  for (const Method& m : methods()) all.push_back(m.name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Methods, NarrowMethod, ::testing::ValuesIn(method_names()),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(NarrowRuns, matrices_that_are_given) {
  const Index n = 40;
  std::vector<std::uint8_t> kernel(at(n * n)), apart(at(n * n));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      const auto distance = static_cast<double>(std::abs(i % 13 - j % 13));
      kernel[at(i * n + j)] = static_cast<std::uint8_t>((i == j ? 100 : 0) + 3 * (i % 4 == j % 4));
      apart[at(i * n + j)] = static_cast<std::uint8_t>(5 * distance);
    }
  const auto as_float = [](const std::vector<std::uint8_t>& m) {
    return std::vector<float>(m.begin(), m.end());
  };
  const auto wide_kernel = as_float(kernel), wide_apart = as_float(apart);
  SelectOptions o = some_options(4);
  o.kernel.type = KernelType::precomputed;
  same::expect_same(select(view(kernel, n, n), o), select(view(wide_kernel, n, n), o));
  o.kernel.type = KernelType::linear;
  o.codes = o.assignment = false;
  for (const char* name : {"kmedoids", "facility"}) {
    const MethodChoice choice{.name = name, .settings = {{"metric", "precomputed"}}};
    EXPECT_EQ(select(view(apart, n, n), o, choice).exemplars,
              select(view(wide_apart, n, n), o, choice).exemplars);
  }
}

TEST(NarrowRuns, the_first_number_that_is_none_is_named) {
  std::vector<std::uint16_t> bits(at(100 * 10), 0x3c00);
  bits[437] = 0x7e00;
  try {
    select(narrow_view(bits.data(), NarrowNumber::float16, 100, 10), some_options(3));
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("point 43 has NaN in feature 7"), std::string::npos)
        << e.what();
  }
}

TEST(NarrowRuns, plans_count_the_bytes_that_are_there) {
  const Twin bytes(NarrowNumber::uint8, 500, 40, 1), halves(NarrowNumber::float16, 500, 40, 1);
  const SelectOptions o = some_options(5);
  const Plan wide = plan(bytes.wide(), o);
  EXPECT_EQ(wide.data_bytes, 4 * 500 * 40);
  EXPECT_EQ(plan(bytes.narrow(), o).data_bytes, 500 * 40);
  EXPECT_EQ(plan(halves.narrow(), o).data_bytes, 2 * 500 * 40);
  EXPECT_EQ(plan(bytes.narrow(), o).memory_bytes, wide.memory_bytes);
}

// ----------------------------------------------------------------------------------------- files

TEST(NarrowFiles, are_used_in_place) {
  for (const NarrowNumber number : all_numbers) {
    SCOPED_TRACE(name_of(number));
    const Index n = 37, d = 5;
    const Twin twin(number, n, d, 2);
    std::string raw;
    for (Index i = 0; i < n; ++i)
      raw.append(reinterpret_cast<const char*>(twin.narrow().address(i)), at(d * bytes_of(number)));
    const char* const codes[] = {"|u1", "|i1", "<u2", "<i2", "<f2", "<V2"};
    const std::string image = testing::npy(codes[static_cast<int>(number)], "(37, 5)", raw);
    const auto same_numbers = [&](const Dataset& data) {
      const auto view = std::get<NarrowView>(data.view());
      EXPECT_EQ(view.number, number);
      EXPECT_EQ(data.type, name_of(number));
      std::vector<float> all(at(n * d));
      view.read(0, n, all.data());
      const auto wide = twin.wide();
      EXPECT_EQ(all, std::vector<float>(wide.data, wide.data + n * d));
    };
    const auto npy = read_dataset(testing::memory_file(image, "x.npy"));
    ASSERT_TRUE(npy) << npy.error().message;
    same_numbers(*npy);
    EXPECT_TRUE(npy->notes.empty());
    const auto npz = read_dataset(testing::memory_file(
        testing::zip({{.name = "x.npy", .content = image, .deflate = true}}), "x.npz"));
    ASSERT_TRUE(npz) << npz.error().message;
    same_numbers(*npz);
    if (bytes_of(number) != 1) continue;
    std::string idx{'\0', '\0', number == NarrowNumber::uint8 ? '\x08' : '\x09', 2};
    for (const Index length : {n, d})
      for (int shift = 24; shift >= 0; shift -= 8) idx += static_cast<char>(length >> shift & 0xff);
    for (const std::string& file : {idx + raw, testing::gzipped(idx + raw)}) {
      const auto plain = read_dataset(testing::memory_file(file, "x.idx"));
      ASSERT_TRUE(plain) << plain.error().message;
      same_numbers(*plain);
    }
  }
}

TEST(NarrowFiles, are_swapped_and_transposed_where_they_must_be) {
  const auto numbers_in = [](const std::string& dict, const std::string& raw) {
    const auto data = read_dataset(testing::memory_file(testing::npy_around(dict, raw), "x.npy"));
    EXPECT_TRUE(data) << data.error().message;
    const auto view = std::get<NarrowView>(data->view());
    std::vector<float> all(at(view.rows * view.cols));
    view.read(0, view.rows, all.data());
    return all;
  };
  EXPECT_EQ(numbers_in("{'descr': '>i2', 'fortran_order': False, 'shape': (1, 2), }",
                       std::string("\x01\x00\xff\xfe", 4)),
            (std::vector<float>{256, -2}));
  EXPECT_EQ(numbers_in("{'descr': '>f2', 'fortran_order': True, 'shape': (2, 2), }",
                       std::string("\x3c\x00\x40\x00\x42\x00\x44\x00", 8)),
            (std::vector<float>{1, 3, 2, 4}));
  EXPECT_EQ(numbers_in("{'descr': 'bfloat16', 'fortran_order': False, 'shape': (1, 2), }",
                       std::string("\x80\x3f\x00\xc0", 4)),
            (std::vector<float>{1, -2}));
}

TEST(NarrowViews, of_what_people_hold) {
  const std::vector<std::int16_t> numbers{1, -2, 3, 4, -5, 6};
  const NarrowView v = view(numbers, 2, 3);
  EXPECT_EQ(v.number, NarrowNumber::int16);
  EXPECT_EQ(v(1, 1), -5);
  EXPECT_EQ(v.numbers, numbers.data());
  EXPECT_THROW(view(numbers, 3, 3), Error);
  EXPECT_THROW(narrow_view(nullptr, NarrowNumber::bfloat16, 3, 3), Error);
  EXPECT_THROW(narrow_view(numbers.data(), NarrowNumber::int16, 2, 3, 2), Error);
  const std::vector<std::uint8_t> bytes{7, 8};
  EXPECT_EQ(view(bytes, 1, 2).number, NarrowNumber::uint8);
}

}  // namespace
}  // namespace fwsr
