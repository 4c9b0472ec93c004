#include "problems.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>
#include <type_traits>

namespace problems {
namespace {

using fwsr::Center;
using fwsr::KernelType;
using fwsr::Norm;
using fwsr::Rng;
using fwsr::Scale;

// The oracle's names stand in the same order as the library's.
static_assert(int(Center::none) == int(oracle::Center::none));
static_assert(int(Center::feature) == int(oracle::Center::feature));
static_assert(int(Scale::unit) == int(oracle::Scale::unit));
static_assert(int(Scale::standard) == int(oracle::Scale::standard));
static_assert(int(KernelType::rbf) == int(oracle::KernelType::rbf));
static_assert(int(KernelType::polynomial) == int(oracle::KernelType::polynomial));
static_assert(int(KernelType::cosine) == int(oracle::KernelType::cosine));
static_assert(int(KernelType::laplacian) == int(oracle::KernelType::laplacian));
static_assert(int(Norm::two) == int(oracle::Norm::two));
static_assert(int(Norm::infinity) == int(oracle::Norm::infinity));
static_assert(int(fwsr::WhenConverged::stop) == int(oracle::WhenConverged::stop));

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

Index between(Rng& rng, Index low, Index high) {
  return low + static_cast<Index>(rng.below(static_cast<std::uint64_t>(high - low + 1)));
}

bool chance(Rng& rng, double p) {
  return rng.uniform() < p;
}

/// 10^u, u uniform.
double power_of_ten(Rng& rng, double low, double high) {
  return std::pow(10.0, low + (high - low) * rng.uniform());
}

std::vector<double> gaussian(Index count, Rng& rng) {
  std::vector<double> v(at(count));
  for (double& x : v) x = rng.normal();
  return v;
}

std::vector<double> low_rank(Index n, Index d, Rng& rng) {
  const Index rank = between(rng, 1, std::min<Index>({4, n, d}));
  const auto left = gaussian(n * rank, rng), right = gaussian(rank * d, rng);
  std::vector<double> v(at(n * d));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < d; ++j)
      for (Index r = 0; r < rank; ++r)
        v[at(i * d + j)] += left[at(i * rank + r)] * right[at(r * d + j)];
  return v;
}

std::vector<double> clustered(Index n, Index d, Rng& rng) {
  const Index clusters = between(rng, 1, 6);
  const auto centers = gaussian(clusters * d, rng);
  auto v = gaussian(n * d, rng);
  for (Index i = 0; i < n; ++i) {
    const Index c = between(rng, 0, clusters - 1);
    for (Index j = 0; j < d; ++j)
      v[at(i * d + j)] = 3 * centers[at(c * d + j)] + 0.3 * v[at(i * d + j)];
  }
  return v;
}

/// The last points repeat earlier ones.
std::vector<double> duplicates(Index n, Index d, Rng& rng) {
  auto v = gaussian(n * d, rng);
  const Index distinct = between(rng, 1, n);
  for (Index i = distinct; i < n; ++i) {
    const Index from = between(rng, 0, distinct - 1);
    std::copy_n(v.begin() + from * d, d, v.begin() + i * d);
  }
  return v;
}

std::vector<double> nonnegative(Index n, Index d, Rng& rng) {
  const double density = 0.1 + 0.6 * rng.uniform();
  std::vector<double> v(at(n * d));
  for (double& x : v)
    if (chance(rng, density)) x = std::abs(rng.normal());
  return v;
}

std::vector<double> with_offset(Index n, Index d, bool small, Rng& rng) {
  auto v = gaussian(n * d, rng);
  const double size = power_of_ten(rng, 0, small ? 1.5 : 4);
  for (Index j = 0; j < d; ++j) {
    const double offset = size * rng.normal();
    for (Index i = 0; i < n; ++i) v[at(i * d + j)] += offset;
  }
  return v;
}

}  // namespace

std::vector<double> make_values(Kind kind, Index n, Index d, bool single, Rng& rng) {
  switch (kind) {
    case Kind::gaussian:
      return gaussian(n * d, rng);
    case Kind::low_rank:
      return low_rank(n, d, rng);
    case Kind::clustered:
      return clustered(n, d, rng);
    case Kind::duplicates:
      return duplicates(n, d, rng);
    case Kind::nonnegative:
      return nonnegative(n, d, rng);
    case Kind::offset:
      return with_offset(n, d, single, rng);
    case Kind::scaled: {
      auto v = gaussian(n * d, rng);
      const double size = single ? power_of_ten(rng, -15, 15) : power_of_ten(rng, -100, 100);
      for (double& x : v) x *= size;
      return v;
    }
  }
  return {};
}

Data::Data(Index n, Index d, const std::vector<double>& values, Storage storage)
    : n_(n), d_(d), stride_(d), storage_(storage) {
  const auto keep = [&](double v) {
    if (static_cast<int>(storage) % 2 == 0)
      singles_.push_back(static_cast<float>(v));
    else
      doubles_.push_back(v);
  };
  if (storage == Storage::dense_f32 || storage == Storage::dense_f64) {
    stride_ = d + n % 3;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < d; ++j) keep(values[at(i * d + j)]);
      for (Index j = d; j < stride_; ++j) keep(std::numeric_limits<double>::quiet_NaN());
    }
    return;
  }
  starts32_.push_back(0);
  starts64_.push_back(0);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) {
      const double v = values[at(i * d + j)];
      if (v == 0) continue;
      keep(v);
      columns32_.push_back(static_cast<std::int32_t>(j));
      columns64_.push_back(j);
    }
    starts32_.push_back(static_cast<std::int32_t>(columns32_.size()));
    starts64_.push_back(static_cast<std::int64_t>(columns64_.size()));
  }
}

fwsr::PointsView Data::view() const {
  switch (storage_) {
    case Storage::dense_f32:
      return fwsr::MatrixView<const float>{singles_.data(), n_, d_, stride_};
    case Storage::dense_f64:
      return fwsr::MatrixView<const double>{doubles_.data(), n_, d_, stride_};
    case Storage::csr_f32_i32:
      return fwsr::CsrView<float, std::int32_t>{n_, d_, starts32_.data(), columns32_.data(),
                                                singles_.data()};
    case Storage::csr_f64_i32:
      return fwsr::CsrView<double, std::int32_t>{n_, d_, starts32_.data(), columns32_.data(),
                                                 doubles_.data()};
    case Storage::csr_f32_i64:
      return fwsr::CsrView<float, std::int64_t>{n_, d_, starts64_.data(), columns64_.data(),
                                                singles_.data()};
    case Storage::csr_f64_i64:
      break;
  }
  return fwsr::CsrView<double, std::int64_t>{n_, d_, starts64_.data(), columns64_.data(),
                                             doubles_.data()};
}

oracle::Matrix<oracle::Real> Data::exact() const {
  oracle::Matrix<oracle::Real> m(n_, d_);
  std::visit(
      [&](const auto& v) {
        if constexpr (requires { v.starts; }) {
          for (Index i = 0; i < n_; ++i)
            for (auto e = v.starts[i]; e < v.starts[i + 1]; ++e)
              m(i, static_cast<Index>(v.columns[e])) = v.values[e];
        } else if constexpr (requires { v.data; }) {
          for (Index i = 0; i < n_; ++i)
            for (Index j = 0; j < d_; ++j) m(i, j) = v(i, j);
        }
      },
      view());
  return m;
}

namespace {

/// A well-conditioned kernel matrix of n points: B B^T / d + I / 10, rounded, symmetric.
std::vector<double> make_kernel(Index n, Rng& rng) {
  const Index d = between(rng, 1, 20);
  const auto b = gaussian(n * d, rng);
  const double size = chance(rng, 0.3) ? power_of_ten(rng, -20, 20) : 1.0;
  std::vector<double> k(at(n * n));
  for (Index i = 0; i < n; ++i) {
    for (Index l = 0; l <= i; ++l) {
      double sum = i == l ? 0.1 : 0.0;
      for (Index j = 0; j < d; ++j)
        sum += b[at(i * d + j)] * b[at(l * d + j)] / static_cast<double>(d);
      k[at(i * n + l)] = k[at(l * n + i)] = size * sum;
    }
  }
  return k;
}

double root_mean_square(const std::vector<double>& values, Index n) {
  double largest = 0, sum = 0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  if (largest == 0) return 0;
  for (const double v : values) sum += (v / largest) * (v / largest);
  return largest * std::sqrt(sum / static_cast<double>(n));
}

void choose_kernel(Problem& p, double size, Index d, Rng& rng) {
  auto& kernel = p.options.kernel;
  const double dims = static_cast<double>(d);
  switch (rng.below(16)) {
    case 0:
    case 1:
      kernel.type = KernelType::rbf;
      break;
    case 2:
      kernel.type = KernelType::polynomial;
      break;
    case 3:
    case 4:
      kernel.type = KernelType::cosine;
      break;
    case 5:
      kernel.type = KernelType::laplacian;
      break;
    default:
      return;
  }
  if (kernel.type == KernelType::cosine || size == 0 || chance(rng, 0.4)) return;
  // near 1 / (typical distance): the points were made with entries near `size`
  if (p.options.scale != Scale::none) size = 1;
  const double width = power_of_ten(rng, -1, 0.5);
  if (kernel.type == KernelType::laplacian) {
    kernel.gamma = width / (size * dims);
  } else {
    kernel.gamma = width / (size * size * dims);
    kernel.degree = static_cast<int>(between(rng, 1, 4));
    kernel.coef0 = chance(rng, 0.5) ? 1.0 : 0.25;
  }
}

void choose_radius(fwsr::SelectOptions& o, Rng& rng) {
  const double u = rng.uniform();
  if (u < 0.12 && o.q == Norm::two && !o.nonneg)
    o.alpha = 0.0;
  else if (u < 0.45)
    o.alpha = 0.5 * std::pow(100.0, rng.uniform());
  else if (u < 0.7)
    o.beta = power_of_ten(rng, -1, 3);
}

/// `squared`: the size of f(0).
void choose_endings(fwsr::SelectOptions& o, double squared, Rng& rng) {
  if (chance(rng, 0.35)) o.when_converged = fwsr::WhenConverged::stop;
  if (chance(rng, 0.3)) o.max_iterations = between(rng, 1, 2 * o.exemplars + 10);
  switch (rng.below(8)) {
    case 0:
      o.delta = 1e-3;
      break;
    case 1:
      o.delta = 1e-5;
      break;
    case 2:
      o.delta = 1e-4 * squared;
      o.delta_absolute = true;
      break;
    case 3:  // the gap cannot close: bound the steps
      o.delta = chance(rng, 0.5) ? 0.0 : 1e-14;
      o.max_iterations = between(rng, 1, 3 * o.exemplars + 10);
      break;
    default:
      break;
  }
}

}  // namespace

Problem make_problem(std::uint64_t seed) {
  Rng rng(seed);
  Problem p;
  p.seed = seed;
  auto& o = p.options;
  p.kind = static_cast<Kind>(rng.below(kinds));
  const Index n = chance(rng, 0.9) ? between(rng, 1, 60) : between(rng, 61, 200);
  const Index d = between(rng, 1, 40);
  const bool single = chance(rng, 0.35);
  const bool given = chance(rng, 0.08);

  o.exemplars = n <= 60 && chance(rng, 0.08) ? n : between(rng, 1, std::min<Index>(n, 12));
  if (!given && chance(rng, 0.3)) o.scale = chance(rng, 0.5) ? Scale::standard : Scale::unit;
  const bool sparse = !given && chance(rng, p.kind == Kind::nonnegative ? 0.7 : 0.2);
  const auto storage = static_cast<Storage>((sparse ? 2 + 2 * rng.below(2) : 0) + (single ? 0 : 1));

  double size = 0;  // root-mean-square norm, more or less
  if (given) {
    const auto k = make_kernel(n, rng);
    o.kernel.type = KernelType::precomputed;
    size = std::sqrt(k[0]);
    p.data = Data(n, n, k, storage);
  } else {
    // Centring of sparse points is a correction of rank one, which is no way to remove an offset.
    const auto values =
        make_values(p.kind, n, d, single || (sparse && p.kind == Kind::offset), rng);
    size = root_mean_square(values, n);
    p.data = Data(n, d, values, storage);
    choose_kernel(p, size / std::sqrt(static_cast<double>(d)), d, rng);
    if (chance(rng, 0.5)) o.center = static_cast<Center>(rng.below(3));
  }
  if (o.scale != Scale::none) size = 1;
  if (!given && o.kernel.type != KernelType::linear) size = 1;

  if (chance(rng, 0.3)) o.q = chance(rng, 0.5) ? Norm::one : Norm::infinity;
  o.nonneg = chance(rng, 0.2);
  choose_radius(o, rng);
  if (chance(rng, 0.5)) {
    o.eta_relative = chance(rng, 0.5);
    o.eta = (0.1 + 1.5 * rng.uniform()) * (o.eta_relative ? 1.0 : size);
  }
  choose_endings(o, size * size * static_cast<double>(n), rng);
  if (chance(rng, 0.3)) {
    o.lambda = size * size * rng.uniform();
    o.rho = size * (0.1 + rng.uniform());
  }
  if (n > 60 && !o.max_iterations) o.max_iterations = 200;  // the oracle is slow
  o.codes = o.assignment = true;
  o.precise = chance(rng, 0.4);
  o.threads = static_cast<int>(between(rng, 1, 3));
  return p;
}

std::string describe(const Problem& p) {
  static constexpr const char* kind_names[] = {"gaussian",    "low_rank", "clustered", "duplicates",
                                               "nonnegative", "offset",   "scaled"};
  static constexpr const char* storage_names[] = {"dense_f32",   "dense_f64",   "csr_f32_i32",
                                                  "csr_f64_i32", "csr_f32_i64", "csr_f64_i64"};
  std::ostringstream out;
  out << "seed " << p.seed << ": " << p.data.rows() << " x " << p.data.cols() << ' '
      << kind_names[static_cast<int>(p.kind)] << ' '
      << storage_names[static_cast<int>(p.data.storage())];
  fwsr::describe(p.options, [&](const char* name, const auto& value, const char*) {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_enum_v<T>)
      out << ", " << name << ' ' << fwsr::name_of(value);
    else if constexpr (requires { value.has_value(); }) {
      if constexpr (requires { fwsr::name_of(*value); }) {
        if (value) out << ", " << name << ' ' << fwsr::name_of(*value);
      } else if (value) {
        out << ", " << name << ' ' << *value;
      }
    } else if constexpr (std::is_same_v<decltype(value), const fwsr::NumberOrAuto&>) {
      out << ", " << name << ' ' << fwsr::text_of(value);
    } else {
      out << ", " << name << ' ' << value;
    }
  });
  out << ", memory " << p.options.memory;
  return out.str();
}

oracle::Settings settings_of(const fwsr::SelectOptions& o, Index n) {
  oracle::Settings s;
  s.exemplars = o.exemplars;
  s.beta = 10 * static_cast<oracle::Real>(o.exemplars);
  if (o.beta) s.beta = *o.beta;
  const fwsr::Conditions& c = o.conditions;
  oracle::Real all = static_cast<oracle::Real>(n), cost = 0, open = 0;
  if (!c.weights.empty()) all = 0;
  for (const double w : c.weights) all += w;
  if (o.alpha) s.beta = all / static_cast<oracle::Real>(*o.alpha);  // 0: infinity
  s.conditions = {.candidates = c.candidates,
                  .included = c.included,
                  .weights = {c.weights.begin(), c.weights.end()},
                  .costs = {c.costs.begin(), c.costs.end()},
                  .groups = {c.groups.codes().begin(), c.groups.codes().end()}};
  for (const std::string& name : c.groups.names()) {
    s.conditions.floors.push_back(c.at_least.of(name).value_or(-1));
    s.conditions.caps.push_back(c.at_most.of(name).value_or(-1));
  }
  for (std::size_t i = 0; i < c.costs.size(); ++i) {
    const bool is_open =
        (c.candidates.empty() || c.candidates[i]) &&
        std::find(c.included.begin(), c.included.end(), Index(i)) == c.included.end();
    cost += is_open ? c.costs[i] : 0, open += is_open;
  }
  if (!o.alpha && !o.beta && !c.costs.empty()) s.beta *= cost / open;
  if (!o.alpha && !o.beta && o.budget) s.beta = 10 * static_cast<oracle::Real>(*o.budget);
  if (o.budget) s.conditions.budget = *o.budget;
  if (o.until_error) s.conditions.until_error = *o.until_error;
  s.q = static_cast<oracle::Norm>(o.q);
  s.nonneg = o.nonneg;
  s.when_converged = static_cast<oracle::WhenConverged>(o.when_converged);
  s.delta = o.delta;
  s.delta_absolute = o.delta_absolute;
  s.max_iterations = o.max_iterations ? *o.max_iterations : 100 * o.exemplars + 1000;
  return s;
}

std::vector<Index> copies_in(const oracle::Matrix<oracle::Real>& m) {
  std::map<std::vector<oracle::Real>, Index> first;
  std::vector<Index> origin;
  for (Index i = 0; i < m.rows; ++i) {
    const auto start = m.values.begin() + i * m.cols;
    origin.push_back(first.emplace(std::vector(start, start + m.cols), i).first->second);
  }
  return origin;
}

Reference reference_of(const oracle::Matrix<oracle::Real>& raw, const fwsr::SelectOptions& o,
                       double gamma) {
  Reference r;
  if (o.kernel.type == KernelType::precomputed) {
    r.points = r.plain = raw;
  } else {
    const Center center = o.center                              ? *o.center
                          : o.kernel.type == KernelType::linear ? Center::point
                                                                : Center::none;
    r.points = oracle::preprocess(raw, {.center = static_cast<oracle::Center>(center),
                                        .scale = static_cast<oracle::Scale>(o.scale),
                                        .normalize = o.kernel.type == KernelType::cosine});
    r.plain =
        oracle::kernel_matrix(r.points, {.type = static_cast<oracle::KernelType>(o.kernel.type),
                                         .gamma = o.kernel.gamma ? *o.kernel.gamma : gamma,
                                         .degree = o.kernel.degree,
                                         .coef0 = o.kernel.coef0});
  }
  oracle::Real trace = 0;
  for (Index i = 0; i < raw.rows; ++i) trace += r.plain(i, i);
  r.rms = std::sqrt(trace / static_cast<oracle::Real>(raw.rows));
  r.eta = o.eta_relative ? o.eta * r.rms : o.eta;
  r.k = r.plain;
  oracle::add_eta(r.k, r.eta);
  r.settings = settings_of(o, raw.rows);
  r.settings.copy_of = copies_in(raw);
  r.settings.conditions.eta = r.eta;
  return r;
}

}  // namespace problems
