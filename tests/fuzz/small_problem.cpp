#include "small_problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace fwsr::fuzz {

namespace {

using Limits = std::numeric_limits<double>;

constexpr std::array strange{0.0,
                             -0.0,
                             1e-300,
                             -1e-300,
                             1e-160,
                             1e-38,
                             1e-8,
                             1 + 1e-15,
                             1e8,
                             9007199254740993.0,
                             1e20,
                             1e38,
                             -1e38,
                             1e77,
                             1e150,
                             -1e150,
                             1e154,
                             1e300,
                             -1e300,
                             Limits::max(),
                             Limits::denorm_min(),
                             Limits::epsilon(),
                             Limits::infinity(),
                             -Limits::infinity(),
                             Limits::quiet_NaN()};
constexpr std::array units{1.0, 1.0, 1.0, 1.0, 1e-6, 1e6, 1e-20, 1e20, 1e-150, 1e120, 1e-300};

double take_number(Bytes& bytes) {
  const int b = bytes.next();
  if (b < 200) return (b - 100) / 16.0;
  if (b < 240) return (b - 220) * 1.1 + bytes.next() * 1e-3;
  return bytes.one_of(strange);
}

}  // namespace

SmallProblem::SmallProblem(Bytes bytes) {
  // Half of all bytes are fwsr, whatever methods there are: an input that is kept stays what it was.
  const std::uint8_t method = bytes.next();
  const auto& table = methods();
  choice.name = method < 128 ? table[method % table.size()].name : "fwsr";
  choice.seed = bytes.next();
  n = 1 + bytes.below(24);
  d = 1 + bytes.below(8);
  options.exemplars = 1 + bytes.below(n);
  options.threads = 1;
  take_options(bytes);
  if (options.kernel.type == KernelType::precomputed)
    take_kernel(bytes);
  else
    take_points(bytes);
  storage_ = bytes.below(4);
  singles_.resize(values_.size());
  for (std::size_t i = 0; i < values_.size(); ++i)  // too large ones become infinite, as in files
    singles_[i] = values_[i] > std::numeric_limits<float>::max()
                      ? std::numeric_limits<float>::infinity()
                  : values_[i] < std::numeric_limits<float>::lowest()
                      ? -std::numeric_limits<float>::infinity()
                      : static_cast<float>(values_[i]);
  starts_.push_back(0);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) {
      const auto at = static_cast<std::size_t>(i * d + j);
      if (values_[at] == 0) continue;
      columns_.push_back(j);
      entries_.push_back(values_[at]);
      single_entries_.push_back(singles_[at]);
    }
    starts_.push_back(std::ssize(columns_));
  }
}

void SmallProblem::take_options(Bytes& bytes) {
  SelectOptions& o = options;
  constexpr std::array radii{0.5, 1.0, 2.0, 10.0, 50.0, 1e-6, 1e6, 1e90};
  constexpr std::array etas{0.1, 0.5, 1.0, 1e-8, 1e8, 1e140};
  const std::uint8_t common = bytes.next();
  if (common & 1) o.center = bytes.one_of(values_of(Center{}));
  if (common & 2) o.scale = bytes.one_of(values_of(Scale{}));
  if (common & 4) o.kernel.type = bytes.one_of(values_of(KernelType{}));
  if (common & 8) o.kernel.gamma = bytes.one_of(std::array{0.5, 0.01, 100.0, 1e-12, 1e12, 1e-300});
  o.fill = common & 16;
  o.codes = o.assignment = common & 32;
  o.precise = common & 64;
  if (common & 128) o.lambda = o.rho = bytes.one_of(std::array{0.0, 1.0, 1e-9, 1e9});
  if (o.kernel.type == KernelType::polynomial) {
    o.kernel.degree = static_cast<int>(1 + bytes.below(5));
    o.kernel.coef0 = bytes.one_of(std::array{1.0, 0.0, 100.0, 1e-9});
  }
  const Method& method = find_method(choice.name);
  if (method.factors && bytes.yes()) o.rank = bytes.below(30);
  if (!method.all_options) return;
  o.max_iterations = 1 + bytes.below(120);  // bounded work; a run that goes on is another test
  const std::uint8_t more = bytes.next();
  if (more & 1) o.alpha = bytes.yes() ? 0.0 : bytes.one_of(radii);
  if (more & 2 && !o.alpha) o.beta = bytes.one_of(radii);
  if (more & 4) o.eta = bytes.one_of(etas);
  o.eta_relative = more & 8;
  if (more & 16) o.q = bytes.one_of(values_of(Norm{}));
  if (more & 32) o.nonneg = bytes.yes();
  if (more & 64) o.rank = bytes.below(30);
  if (more & 128) {
    o.when_converged = bytes.one_of(values_of(WhenConverged{}));
    o.delta = bytes.one_of(std::array{0.0, 1e-8, 1e-3, 1.0});
    o.delta_absolute = bytes.yes();
  }
}

void SmallProblem::take_points(Bytes& bytes) {
  const double unit = bytes.one_of(units);
  values_.resize(static_cast<std::size_t>(n * d));
  for (Index i = 0; i < n; ++i) {
    const auto row =
        std::span(values_).subspan(static_cast<std::size_t>(i * d), static_cast<std::size_t>(d));
    const std::uint8_t kind = bytes.next();
    if (kind < 32 && i > 0) {  // another point again, as it was or turned or shrunk
      const auto other = static_cast<std::size_t>(bytes.below(i) * d);
      const double factor = std::array{1.0, -1.0, 0.5, 1 + 1e-12}[kind % 4];
      for (std::size_t j = 0; j < row.size(); ++j) row[j] = factor * values_[other + j];
    } else if (kind < 40) {
      for (double& x : row) x = 0;
    } else if (kind < 48) {
      for (double& x : row) x = unit;
    } else {
      for (double& x : row) x = unit * take_number(bytes);
    }
  }
}

/// B B^T, and now and then something else: one entry, or two that mirror each other, or distances.
void SmallProblem::take_kernel(Bytes& bytes) {
  take_points(bytes);
  const std::vector<double> b = values_;
  values_.assign(static_cast<std::size_t>(n * n), 0);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      for (Index l = 0; l < d; ++l)
        values_[static_cast<std::size_t>(i * n + j)] +=
            b[static_cast<std::size_t>(i * d + l)] * b[static_cast<std::size_t>(j * d + l)];
  d = n;
  const std::uint8_t kind = bytes.next();
  const auto entry = [&](Index i, Index j) -> double& {
    return values_[static_cast<std::size_t>(i * n + j)];
  };
  if (kind > 240) {
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        entry(i, j) = b[static_cast<std::size_t>(i)] - b[static_cast<std::size_t>(j)];
    for (double& v : values_) v = std::abs(v);
  } else if (kind > 200) {
    const Index i = bytes.below(n), j = bytes.below(n);
    entry(i, j) = take_number(bytes);
    if (kind > 220) entry(j, i) = entry(i, j);
  }
}

double SmallProblem::spread() const {
  double least = Limits::max(), most = Limits::min();
  const auto see = [&](double x) {
    if (x == 0) return;
    least = std::min(least, std::abs(x));
    most = std::max(most, std::abs(x));
  };
  for (const double x : values_) see(x);
  if (!options.eta_relative) see(options.eta);
  return most / least;
}

PointsView SmallProblem::view() const {
  switch (storage_) {
    case 0:
      return MatrixView<const double>{values_.data(), n, d, d};
    case 1:
      return CsrView<double, std::int64_t>{n, d, starts_.data(), columns_.data(), entries_.data()};
    case 2:
      return MatrixView<const float>{singles_.data(), n, d, d};
    default:
      return CsrView<float, std::int64_t>{n, d, starts_.data(), columns_.data(),
                                          single_entries_.data()};
  }
}

}  // namespace fwsr::fuzz
