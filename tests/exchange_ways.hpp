// Points as exchange meets them, in every way that they are held.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/solver/exchange_points.hpp"
#include "fwsr/solver/local_points.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "oracle/oracle.hpp"
#include "problems.hpp"

namespace exchange_ways {

using fwsr::Index;
using oracle::Real;

inline std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

struct Way {
  const char* name;
  fwsr::SelectOptions options;
  bool in_set = false;
  fwsr::KernelBy by = fwsr::KernelBy::tiles;
};

inline std::vector<Way> ways(double eta) {
  using fwsr::KernelType, fwsr::KernelBy;
  std::vector<Way> all;
  const auto options = [&](KernelType type) {
    return fwsr::SelectOptions{.exemplars = 3,
                               .eta = eta,
                               .kernel = {.type = type},
                               .center = fwsr::Center::none,
                               .threads = 2};
  };
  all.push_back({"set", options(KernelType::linear), true, KernelBy::none});
  all.push_back({"products", options(KernelType::linear), false, KernelBy::tiles});
  all.push_back({"tiles", options(KernelType::rbf)});
  all.push_back({"held", options(KernelType::rbf), false, KernelBy::held});
  all.push_back({"laplacian", options(KernelType::laplacian)});
  return all;
}

/// Points and kernel as a run has them, and K among all of them.
struct Prepared {
  fwsr::SerialBlas serial;  // as in a run
  fwsr::PreparedProblem problem;
  std::unique_ptr<fwsr::ExchangePoints> points;
  oracle::Matrix<Real> k;

  Prepared(const problems::Data& data, const Way& way, int threads) {
    fwsr::SelectOptions o = way.options;
    o.threads = threads;
    fwsr::Plan plan = fwsr::make_plan(fwsr::facts_of(data.view(), threads), o);
    plan.form = way.in_set ? fwsr::FormKind::covariance : fwsr::FormKind::representer;
    plan.kernel_by = way.by;
    plan.threads = threads;
    problem = fwsr::prepare_problem(data.view(), {}, o, plan, {});
    if (!way.in_set) problem.make_kernel(o, plan, false, way.by == fwsr::KernelBy::held, {});
    if (way.in_set) {
      if (!problem.set) problem.set = std::make_unique<fwsr::LocalPoints>(*problem.points, threads);
      points = std::make_unique<fwsr::ExchangeInSet>(*problem.set, problem.terms, threads);
    } else {
      points = std::make_unique<fwsr::ExchangeInKernel>(
          fwsr::KernelToExchange{problem.kernel(), problem.kernel(), problem.terms},
          fwsr::KernelProducts{}, threads, fwsr::KeepGoing());
    }
    const Index n = problem.kernel().size();
    k = oracle::Matrix<Real>(n, n);
    std::vector<Index> all;
    for (Index i = 0; i < n; ++i) all.push_back(i);
    const std::vector<double> values = problem.kernel().values(all, all);
    for (Index i = 0; i < n * n; ++i) k.values[at(i)] = values[at(i)];
  }
};

inline std::vector<Index> some_of(Index n, Index k, fwsr::Rng& random) {
  std::vector<Index> all, chosen;
  for (Index i = 0; i < n; ++i) all.push_back(i);
  for (Index t = 0; t < k; ++t) {
    const auto place =
        static_cast<std::ptrdiff_t>(random.uniform() * static_cast<double>(all.size()));
    chosen.push_back(all[at(place)]);
    all.erase(all.begin() + place);
  }
  return chosen;
}

}  // namespace exchange_ways
