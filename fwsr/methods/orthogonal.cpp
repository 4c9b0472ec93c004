#include "fwsr/methods/orthogonal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fwsr/base/at.hpp"
#include "fwsr/methods/open_choice.hpp"

namespace fwsr {

namespace {

constexpr double doubtful = 1e-6;  // of what was computed: ten digits are left

}  // namespace

// Both kinds

Residuals::Residuals(const Task& task, bool energies)
    : task_(task), has_energies_(energies), x_(at(task.size())) {
  if (energies) y_.resize(x_.size());
}

void Residuals::start(std::vector<double> squares, double relative_floor, double ridge) {
  squares_ = std::move(squares);
  largest_ = squares_.empty() ? 0 : *std::max_element(squares_.begin(), squares_.end());
  floor_ = relative_floor * largest_;
  if (ridge > 0) ridge_ = ridge * total() / task_.terms.weight_of_all(size());
  for (double& s : squares_)
    if (s <= floor_) s = 0;
  if (ridge > 0) floor_ = 0;
  computed_squares_ = squares_;
}

void Residuals::start_energies(std::vector<double> energies) {
  energies_ = std::move(energies);
  for (std::size_t i = 0; i < squares_.size(); ++i)
    if (squares_[i] == 0) energies_[i] = 0;
  computed_energies_ = energies_;
}

double Residuals::total() const {
  return block_sum(task_.threads, size(),
                   [&](Index i) { return task_.terms.weight(i) * squares_[at(i)]; });
}

double Residuals::take(Index pick) {
  const double norm = append(pick, x_, y_);
  squares_[at(pick)] = 0;
  if (has_energies_) energies_[at(pick)] = 0;
  if (norm == 0) return 0;
  ++rank_;
  const int threads = threads_for(task_.threads, 4 * static_cast<double>(size()));
  const double sum =
      has_energies_
          ? block_sum(threads, size(),
                      [&](Index i) { return task_.terms.weight(i) * (x_[at(i)] * x_[at(i)]); })
          : 0.0;
  const std::vector<Index> again = subtract(sum);
  if (renew())
    compute_all_again();
  else
    compute_again(again);
  return norm;
}

void Residuals::take_free(Index point) {
  free_ = ridge_ > 0;
  take(point);
  free_ = false;
}

std::vector<double> Residuals::weighted(std::vector<double> values) const {
  for (Index i = 0; i < size() && task_.terms.weighted(); ++i)
    values[at(i)] *= task_.terms.weight(i);
  return values;
}

/// The recursions; returns the points whose numbers they leave in doubt.
std::vector<Index> Residuals::subtract(double sum_of_squares) {
  std::vector<std::vector<Index>> found(at(block_count(size())));
  for_blocks(threads_for(task_.threads, 4 * static_cast<double>(size())), size(),
             [&](Index b, Index first, Index last) {
               for (Index k = first; k < last; ++k) {
                 const auto i = at(k);
                 if (squares_[i] == 0) continue;
                 squares_[i] -= x_[i] * x_[i];
                 bool doubt = squares_[i] < doubtful * computed_squares_[i];
                 if (has_energies_) {
                   energies_[i] += x_[i] * (x_[i] * sum_of_squares - 2 * y_[i]);
                   doubt = doubt || energies_[i] < doubtful * computed_energies_[i];
                 }
                 if (doubt) found[at(b)].push_back(k);
               }
             });
  std::vector<Index> all;
  for (const auto& some : found) all.insert(all.end(), some.begin(), some.end());
  return all;
}

void Residuals::compute_again(std::span<const Index> points) {
  for_blocks(
      task_.threads, static_cast<Index>(points.size()),
      [&](Index, Index first, Index last) {
        throw_if_cancelled(task_.keep_going);
        const auto some = points.subspan(at(first), at(last - first));
        double squares[batch], energies[batch];
        compute(some, squares, has_energies_ ? energies : nullptr);
        for (std::size_t b = 0; b < some.size(); ++b) {
          const bool left = squares[b] > floor_;
          squares_[at(some[b])] = computed_squares_[at(some[b])] = left ? squares[b] : 0.0;
          if (has_energies_)
            energies_[at(some[b])] = computed_energies_[at(some[b])] = left ? energies[b] : 0.0;
        }
      },
      batch);
}

void Residuals::compute_all_again() {
  std::vector<Index> left;
  for (Index i = 0; i < size(); ++i)
    if (squares_[at(i)] > 0) left.push_back(i);
  compute_again(left);
}

// Which, and what it takes

std::unique_ptr<Residuals> make_residuals(const Task& task, Index most, double tolerance,
                                          bool energies, double ridge) {
  using Keep = VectorResiduals::Keep;
  most += std::ssize(task.terms.included);
  if (task.linear && task.points)
    return std::make_unique<VectorResiduals>(task, most, tolerance,
                                             energies ? Keep::energies : Keep::squares, ridge);
  return std::make_unique<KernelResiduals>(task, most, tolerance, energies, ridge);
}

Parameter ridge_parameter() {
  return {.name = "mu",
          .value = 0.0,
          .about = "ridge weight, in units of the mean squared norm; 0: none",
          .least = 1e-6,  // below it rounding would decide
          .most = 1e6,
          .or_zero = true};
}

double pass_flops(const Sizes& s) {
  return 16 * s.entries;
}

Cost residuals_cost(const Sizes& s, bool energies) {
  const double numbers = (energies ? 6 : 3) * s.n;
  const double again = s.crew(96) * (s.held(96) * ((energies ? 2 : 1) * s.d + s.k) +
                                     (energies && s.d >= s.n ? s.held(384) * s.d : 0.0));
  if (!s.linear) {
    const bool held = energies && s.n <= static_cast<double>(KernelResiduals::held_points);
    const double entries = s.n * s.n / 2 * (2 * s.d + 20);  // all of K
    return {.bytes = 8 * (numbers + s.k * s.n + again) + (held ? held_kernel_bytes(s.n, false) : 0),
            .flops = s.k * (pass_flops(s) + s.n * (200 + 60 * s.k)) +
                     (energies ? entries * (held ? 1 : s.k + 1) + 8 * s.k * s.n * s.n : 0),
            .how = !energies ? "holds one column of the kernel matrix for every exemplar"
                   : held    ? "holds half of the kernel matrix and reads it once a step"
                             : "computes the kernel matrix in tiles, once a step"};
  }
  const bool small = s.d < s.n;
  const double covariance = !energies || !small ? 0 : s.d * s.d * (1 + 2 * s.threads);
  return {.bytes = 8 * (numbers + s.k * s.d + again + covariance),
          .flops = s.k * pass_flops(s) * (energies ? (small ? 1.5 : 4) : 1) + 4 * s.k * s.k * s.d +
                   (!energies ? 0
                    : small   ? 3 * s.n * s.d * s.d
                              : 2 * s.n * s.n * s.d),
          .how = !energies ? "one pass over the points a step, and no copy of them"
                 : small ? "holds a matrix of features x features; one pass over the points a step"
                         : "all inner products once, three passes over the points a step"};
}

double rounding_tolerance(Index d) {
  return (32 + std::sqrt(static_cast<double>(d))) * std::numeric_limits<double>::epsilon();
}

Pivots largest_residuals(const Task& task, Index count) {
  const double tolerance = rounding_tolerance(task.linear && task.points ? task.points->dim() : 0);
  const auto residuals = make_residuals(task, count, tolerance, false);
  OpenChoice open(task);
  for (const Index i : task.terms.included) residuals->take_free(i);
  Pivots pivots;
  while (static_cast<Index>(pivots.points.size()) < count) {
    const Index best =
        residuals->best([&](Index i) { return open(i) ? residuals->squares()[at(i)] : 0.0; });
    if (best < 0) break;
    const double norm = residuals->take(best);
    if (norm == 0) continue;
    pivots.points.push_back(best);
    open.add(best);
    pivots.norms.push_back(norm);
    task.report(static_cast<Index>(pivots.points.size()));
  }
  return pivots;
}

}  // namespace fwsr
