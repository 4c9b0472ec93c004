// The same bits for any number of threads, in every form.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "fwsr/solver/select.hpp"
#include "problems.hpp"
#include "same.hpp"

namespace {

using fwsr::Index;
using fwsr::KernelType;
using fwsr::Norm;
using fwsr::Rng;
using fwsr::Selection;
using fwsr::SelectOptions;
using problems::Data;
using problems::Kind;
using problems::Storage;

using same::expect_same;

struct Way {
  std::string name;  // form, and how it comes by K
  Index n, d;
  Storage storage;
  std::function<void(SelectOptions&)> set;
  bool in_tiles = false;  // leave one byte less than holding K takes
};

/// Enough points for several blocks, a number that no block divides.
const std::vector<Way> every_form = {
    {"covariance", 2600, 12, Storage::dense_f64, [](SelectOptions&) {}},
    {"covariance", 2600, 12, Storage::dense_f32, [](SelectOptions&) {}},
    {"covariance", 2600, 120, Storage::dense_f32, [](SelectOptions&) {}},
    {"covariance", 2600, 12, Storage::dense_f64,
     [](SelectOptions& o) {
       o.alpha = 0;
       o.scale = fwsr::Scale::standard;
       o.center = fwsr::Center::feature;
       o.eta = 0.5;
       o.eta_relative = true;
     }},
    {"covariance factor", 2600, 12, Storage::dense_f32,
     [](SelectOptions& o) {
       o.kernel.type = KernelType::rbf;
       o.rank = 100;
       o.eta = 0.5;
     }},
    {"covariance factor", 2600, 12, Storage::csr_f64_i32,
     [](SelectOptions& o) {
       o.kernel.type = KernelType::laplacian;
       o.rank = 40;
     }},
    {"representer products", 2100, 700, Storage::csr_f32_i32, [](SelectOptions&) {}},
    {"representer held", 1500, 9, Storage::dense_f64,
     [](SelectOptions& o) { o.kernel.type = KernelType::rbf; }},
    {"representer held", 1500, 9, Storage::dense_f32,
     [](SelectOptions& o) { o.kernel.type = KernelType::rbf; }},
    {"representer tiles", 4000, 9, Storage::dense_f64,
     [](SelectOptions& o) { o.kernel.type = KernelType::rbf; }, true},
    {"representer tiles", 4000, 9, Storage::dense_f32,
     [](SelectOptions& o) { o.kernel.type = KernelType::laplacian; }, true},
    {"representer given", 1100, 1100, Storage::dense_f64,
     [](SelectOptions& o) { o.kernel.type = KernelType::precomputed; }},
    {"gradient held", 1300, 9, Storage::dense_f64, [](SelectOptions& o) { o.q = Norm::one; }},
    {"gradient held", 1300, 9, Storage::dense_f64, [](SelectOptions& o) { o.q = Norm::infinity; }},
    {"gradient held", 1300, 9, Storage::csr_f64_i64, [](SelectOptions& o) { o.nonneg = true; }},
    {"gradient given", 1100, 1100, Storage::dense_f32,
     [](SelectOptions& o) {
       o.kernel.type = KernelType::precomputed;
       o.nonneg = true;
     }},
};

std::vector<double> values_of(const Way& way) {
  Rng rng(17);
  if (way.n != way.d) {
    const bool sparse = way.storage >= Storage::csr_f32_i32;
    auto v = problems::make_values(sparse ? Kind::nonnegative : Kind::clustered, way.n, way.d,
                                   false, rng);
    if (way.d > 100)
      for (double& x : v)
        if (rng.uniform() > 0.05) x = 0;
    return v;
  }
  // a kernel matrix: linear, of few features, and a ridge
  const auto a = problems::make_values(Kind::gaussian, way.n, 5, false, rng);
  std::vector<double> k(static_cast<std::size_t>(way.n * way.n));
  for (Index i = 0; i < way.n; ++i)
    for (Index l = 0; l < way.n; ++l) {
      double sum = i == l ? 0.5 : 0.0;
      for (Index j = 0; j < 5; ++j)
        sum += a[static_cast<std::size_t>(i * 5 + j)] * a[static_cast<std::size_t>(l * 5 + j)];
      k[static_cast<std::size_t>(i * way.n + l)] = sum;
    }
  return k;
}

TEST(Determinism, any_number_of_threads_gives_the_same_bits) {
  for (const Way& way : every_form) {
    SCOPED_TRACE(way.name);
    const Data data(way.n, way.d, values_of(way), way.storage);
    SelectOptions o;
    o.exemplars = 8;
    o.codes = o.assignment = true;
    o.lambda = 0.1;
    o.rho = 0.2;
    o.threads = 1;
    way.set(o);
    if (way.in_tiles) {  // the certificate in double is left out where it does not fit
      SelectOptions least = o;
      least.certificate = fwsr::CertificateKind::none;
      least.lambda.reset();
      least.rho.reset();
      o.memory = fwsr::plan(data.view(), least).memory_bytes - 1;
    }
    const Selection one = fwsr::select(data.view(), o);
    EXPECT_EQ(form_of(one.plan), way.name);
    EXPECT_EQ(one.exemplars.size(), 8u);
    for (const int threads : {2, 3, 8}) {
      SCOPED_TRACE(testing::Message() << threads << " threads");
      o.threads = threads;
      expect_same(one, fwsr::select(data.view(), o));
    }
  }
}

}  // namespace
