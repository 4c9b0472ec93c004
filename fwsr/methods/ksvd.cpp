// K-SVD (Aharon, Elad and Bruckstein 2006): k atoms of norm 1, the rows of D, and codes with at most s = `sparsity` not
// zero for every point,
//
//   minimise  ||A - D^T X||^2   over D and X,   a_i about sum_t X_ti d_t,
//
// in turns: X by orthogonal matching pursuit, then every atom with its row of X as the best approximation of rank one of
// what the others leave of the points that use it, E = d_t x_t^T. With D replaced by the points themselves, and rows of X
// that are mostly zero instead of columns, this is the problem of FWSR.
//
// The objective never rises: a turn that raises it, as it may where matching pursuit finds worse codes for points than they
// had, is taken back, and done again with those kept; the search for an atom begins at the atom. The start are points
// drawn at random; an atom that nobody uses becomes the point that is represented worst. It ends when a turn lowers the
// objective by less than `tolerance` of it, or of a thousandth of ||A||^2.
//
// Exemplars: for each atom the point with the smallest angle to it, |<a_i, d_t>| / ||a_i||, all distinct; atoms whose rows
// of X are longer choose first, and this is their order.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/lanczos.hpp"
#include "fwsr/linalg/large_array.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/methods/most_correlated.hpp"
#include "fwsr/methods/sparse_coder.hpp"
#include "fwsr/methods/task.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

namespace {

class KSvd {
 public:
  explicit KSvd(const Task& task)
      : task_(task),
        n_(task.size()),
        d_(task.points->dim()),
        residuals_(make_large_array<double>(n_ * d_)),
        codes_(at(n_)) {
    draw_atoms();
    find_residuals();
    if (atoms() > 0) find_codes(false);
  }

  Index atoms() const { return static_cast<Index>(atoms_.size()) / d_; }
  const double* atom(Index t) const { return atoms_.data() + t * d_; }
  const std::vector<Code>& codes() const { return codes_; }

  double objective() const {
    return block_sum(task_.threads, n_, [&](Index i) { return dot(residual(i), residual(i), d_); });
  }
  /// Of no codes at all: ||A||^2.
  double energy() const {
    return block_sum(task_.threads, n_, [&](Index i) { return task_.points->squared_norm(i); });
  }

  /// The first turn: atoms for the codes that are there. The objective after it.
  double improve() {
    improve_atoms();
    return objective();
  }

  /// Another turn, codes and then atoms, from this objective on; the one after it.
  double turn(double before) {
    const std::vector<double> atoms = atoms_;
    const std::vector<Code> codes = codes_;
    find_codes(false);
    if (const double now = improve(); now <= before) return now;
    atoms_ = atoms;
    codes_ = codes;
    find_residuals();
    find_codes(true);
    return improve();
  }

 private:
  struct Use {
    Index point;
    std::size_t place;  // in its code
  };
  static constexpr Index block = 256;

  /// X for the atoms as they are, by matching pursuit. keep: a point keeps its code where the new one is worse.
  void find_codes(bool keep) {
    const Index k = atoms();
    std::vector<double> gram(at(k * k));
    multiply(Product<double>{.op_b = Op::transpose,
                             .m = k,
                             .n = k,
                             .k = d_,
                             .left = atoms_.data(),
                             .right = atoms_.data(),
                             .out = gram.data()});
    const SparseCoder coder(gram, k, task_.settings.whole("sparsity"));
    for_blocks(
        task_.threads, n_,
        [&](Index, Index first, Index last) {
          throw_if_cancelled(task_.keep_going);
          const Index rows = last - first;
          std::vector<double> points(at(rows * d_)), products(at(rows * k));
          task_.points->rows(first, last, points.data());
          multiply(Product<double>{.op_b = Op::transpose,
                                   .m = rows,
                                   .n = k,
                                   .k = d_,
                                   .left = points.data(),
                                   .right = atoms_.data(),
                                   .out = products.data()});
          for (Index i = first; i < last; ++i)
            take(i, points.data() + (i - first) * d_,
                 coder.code(products.data() + (i - first) * k, task_.points->squared_norm(i)),
                 keep);
        },
        block);
  }

  /// Every atom and its row of X anew, one after the other.
  void improve_atoms() {
    const std::vector<std::vector<Use>> uses = uses_of_atoms();
    std::vector<bool> taken(at(n_));
    for (Index t = 0; t < atoms(); ++t) {
      throw_if_cancelled(task_.keep_going);
      if (uses[at(t)].empty())
        renew(t, taken);
      else
        improve_atom(t, uses[at(t)]);
    }
  }

  double* residual(Index i) { return residuals_.get() + i * d_; }
  const double* residual(Index i) const { return residuals_.get() + i * d_; }

  void draw_atoms() {
    Rng rng(task_.seed);
    for (const Index i : sample_without_replacement(n_, n_, rng)) {
      if (static_cast<Index>(atoms_.size()) == task_.exemplars * d_) break;
      if (task_.points->squared_norm(i) > 0) add_atom(i);
    }
  }
  void add_atom(Index i) {
    atoms_.resize(atoms_.size() + at(d_));
    set_atom(atoms() - 1, i);
  }
  void set_atom(Index t, Index i) {
    double* const out = atoms_.data() + t * d_;
    task_.points->row(i, out);
    const double norm = std::sqrt(dot(out, out, d_));
    for (Index l = 0; l < d_; ++l) out[l] /= norm;
  }

  /// What atoms leave of a point, which it is to begin with.
  void take_away(const Code& code, double* left) const {
    for (std::size_t u = 0; u < code.atoms.size(); ++u)
      for (Index l = 0; l < d_; ++l) left[l] -= code.values[u] * atom(code.atoms[u])[l];
  }
  void take(Index i, const double* point, Code found, bool keep) {
    std::vector<double> left(point, point + d_);
    take_away(found, left.data());
    double* const before = residual(i);
    if (keep && dot(left.data(), left.data(), d_) > dot(before, before, d_)) return;
    std::copy(left.begin(), left.end(), before);
    codes_[at(i)] = std::move(found);
  }
  void find_residuals() {
    for_blocks(task_.threads, n_, [&](Index, Index first, Index last) {
      task_.points->rows(first, last, residual(first));
      for (Index i = first; i < last; ++i) take_away(codes_[at(i)], residual(i));
    });
  }

  std::vector<std::vector<Use>> uses_of_atoms() const {
    std::vector<std::vector<Use>> uses(at(atoms()));
    for (Index i = 0; i < n_; ++i)
      for (std::size_t u = 0; u < codes_[at(i)].atoms.size(); ++u)
        uses[at(codes_[at(i)].atoms[u])].push_back({i, u});
    return uses;
  }

  /// The leading singular vector of the rows e_i = r_i + x_ti d_t becomes the atom, and <e_i, d_t> its codes.
  void improve_atom(Index t, const std::vector<Use>& uses) {
    const std::vector<double> old(atom(t), atom(t) + d_);
    const auto value = [&](const Use& use) -> double& {
      return codes_[at(use.point)].values[use.place];
    };
    const auto count = static_cast<Index>(uses.size());
    const int threads = threads_for(task_.threads, 4.0 * static_cast<double>(count * d_));
    // E^T E v, in blocks of the rows; what d_t adds to all of them is added once.
    const auto apply = [&](std::span<const double> v) {
      throw_if_cancelled(task_.keep_going);
      const double with_old = dot(old.data(), v.data(), d_);
      std::vector<std::vector<double>> parts(at(block_count(count)));
      for_blocks(threads, count, [&](Index b, Index first, Index last) {
        std::vector<double>& part = parts[at(b)];
        part.assign(at(d_) + 1, 0.0);
        for (Index u = first; u < last; ++u) {
          const double* const r = residual(uses[at(u)].point);
          const double along = dot(r, v.data(), d_) + value(uses[at(u)]) * with_old;
          for (Index l = 0; l < d_; ++l) part[at(l)] += along * r[l];
          part.back() += along * value(uses[at(u)]);
        }
      });
      std::vector<double> sum = std::move(parts[0]);
      for (std::size_t b = 1; b < parts.size(); ++b)
        for (std::size_t l = 0; l < sum.size(); ++l) sum[l] += parts[b][l];
      const double of_old = sum.back();
      sum.pop_back();
      for (Index l = 0; l < d_; ++l) sum[at(l)] += of_old * old[at(l)];
      return sum;
    };
    LeadingEigen best = leading_eigen(apply, old, 1e-10);
    if (best.vector.empty()) return;
    if (dot(best.vector.data(), old.data(), d_) < 0)
      for (double& v : best.vector) v = -v;
    const double with_old = dot(best.vector.data(), old.data(), d_);
    for_blocks(threads, count, [&](Index, Index first, Index last) {
      for (Index u = first; u < last; ++u) {
        double* const r = residual(uses[at(u)].point);
        double& x = value(uses[at(u)]);
        const double now = dot(r, best.vector.data(), d_) + x * with_old;
        for (Index l = 0; l < d_; ++l) r[l] += x * old[at(l)] - now * best.vector[at(l)];
        x = now;
      }
    });
    std::copy(best.vector.begin(), best.vector.end(), atoms_.begin() + t * d_);
  }

  /// The point that is represented worst, of those that are not yet an atom for that reason.
  void renew(Index t, std::vector<bool>& taken) {
    const Index worst = first_largest(
        n_, [&](Index i) { return taken[at(i)] ? 0.0 : dot(residual(i), residual(i), d_); },
        rough_width);
    if (worst < 0) return;
    taken[at(worst)] = true;
    set_atom(t, worst);
  }

  const Task& task_;
  Index n_, d_;
  LargeArray<double> residuals_;  // n x d
  std::vector<double> atoms_;     // k x d
  std::vector<Code> codes_;
};

/// The norms of the rows of X.
std::vector<double> row_norms(const KSvd& model) {
  std::vector<double> norms(at(model.atoms()));
  for (const Code& code : model.codes())
    for (std::size_t u = 0; u < code.atoms.size(); ++u)
      norms[at(code.atoms[u])] += code.values[u] * code.values[u];
  for (double& v : norms) v = std::sqrt(v);
  return norms;
}

/// For each atom, in this order, the point of the smallest angle that no other has; -1: orthogonal to all that are left.
std::vector<Index> nearest_points(const Task& task, const KSvd& model,
                                  const std::vector<Index>& order) {
  const Index d = task.points->dim();
  std::vector<double> scales(at(task.size()));
  for (Index i = 0; i < task.size(); ++i)
    if (const double square = task.points->squared_norm(i); square > 0)
      scales[at(i)] = 1 / std::sqrt(square);
  std::vector<Index> found(order.size(), -1);
  std::vector<bool> taken(at(task.size()));
  std::vector<std::size_t> open(order.size());
  std::iota(open.begin(), open.end(), std::size_t{0});
  MostCorrelated search(*task.points, scales, static_cast<Index>(open.size()));
  while (!open.empty()) {
    std::vector<double> rows;
    for (const std::size_t o : open)
      rows.insert(rows.end(), model.atom(order[o]), model.atom(order[o]) + d);
    const std::vector<Index> best = search.find(
        rows, static_cast<Index>(open.size()), [&](Index, Index i) { return taken[at(i)]; },
        rough_width, task.keep_going);
    std::vector<std::size_t> left;
    for (std::size_t v = 0; v < open.size(); ++v) {
      if (best[v] < 0) continue;
      if (taken[at(best[v])]) {
        left.push_back(open[v]);
      } else {
        taken[at(best[v])] = true;
        found[open[v]] = best[v];
      }
    }
    open = std::move(left);
  }
  return found;
}

/// Codes in the order of the exemplars, and the atoms.
void add_codes(const Task& task, const KSvd& model, const std::vector<Index>& order, Picks& picks) {
  const Index n = task.size(), d = task.points->dim();
  std::vector<Index> place(at(model.atoms()), -1);
  for (std::size_t o = 0; o < order.size(); ++o) {
    place[at(order[o])] = static_cast<Index>(o);
    picks.atoms.emplace_back(model.atom(order[o]), model.atom(order[o]) + d);
  }
  picks.codes.assign(order.size() * at(n), 0.0);
  for (Index i = 0; i < n; ++i) {
    const Code& code = model.codes()[at(i)];
    for (std::size_t u = 0; u < code.atoms.size(); ++u)
      if (const Index o = place[at(code.atoms[u])]; o >= 0)
        picks.codes[at(o * n + i)] = code.values[u] / task.unit();
  }
}

Picks choose(const Task& task) {
  KSvd model(task);
  Picks picks;
  if (model.atoms() == 0) return picks;
  const Index most = task.settings.whole("max_iterations");
  const double tolerance = task.settings.number("tolerance"), energy = model.energy();
  double objective = model.objective();
  Index turn = 0;
  for (bool converged = false; !converged && turn < most; ++turn) {
    const double now = turn == 0 ? model.improve() : model.turn(objective);
    converged = objective - now <= tolerance * std::max(objective, 1e-3 * energy);
    objective = now;
    task.report(0);
  }
  const std::vector<double> norms = row_norms(model);
  std::vector<Index> order = by_score(norms, rough_width);
  for (Index t = 0; t < model.atoms(); ++t)
    if (!(norms[at(t)] > 0)) order.push_back(t);
  const std::vector<Index> nearest = nearest_points(task, model, order);
  std::vector<Index> used;  // atoms that have a point
  for (std::size_t o = 0; o < order.size(); ++o) {
    if (nearest[o] < 0) continue;
    used.push_back(order[o]);
    picks.exemplars.push_back(nearest[o]);
    picks.strength.push_back(norms[at(order[o])] / task.unit());
  }
  if (task.codes) add_codes(task, model, used, picks);
  const double unit = task.unit() * task.unit();
  picks.facts = {{"objective", objective / unit}, {"iterations", static_cast<double>(turn)}};
  return picks;
}

Cost cost(const Sizes& s, const Settings& settings) {
  const double sparse = std::min(static_cast<double>(settings.whole("sparsity")), s.k);
  const double turns = std::min(40.0, static_cast<double>(settings.whole("max_iterations")) + 1);
  const double rows = 256;
  return {.bytes = 8 * (s.n * s.d + 3 * s.k * s.d + s.k * s.k) + s.n * (128 + 48 * sparse + 16) +
                   std::max(8 * s.crew(rows) * s.held(rows) * (s.d + s.k),
                            8 * s.n + most_correlated_bytes(s, s.k)),
          .flops = turns * s.n * (2 * s.d * s.k + 400 * sparse * s.k + 800 * sparse * s.d),
          .how =
              "holds what the atoms leave of all points, as many numbers as these; a turn costs "
              "O(n d k)"};
}

}  // namespace

Method ksvd_method() {
  return {.name = "ksvd",
          .title = "K-SVD, nearest points",
          .about =
              "the point nearest to each atom of a dictionary that gives all points sparse codes "
              "(Aharon, Elad and Bruckstein 2006)",
          .parameters = {{.name = "sparsity",
                          .value = Index{5},
                          .about = "atoms in the code of a point, at most",
                          .least = 1,
                          .most = 1e4},
                         {.name = "max_iterations",
                          .value = Index{50},
                          .about = "turns of codes and atoms, at most; 0: the atoms drawn to begin",
                          .least = 0,
                          .most = 1e9},
                         {.name = "tolerance",
                          .value = 1e-3,
                          .about = "ends when a turn lowers the objective by less, relatively",
                          .least = 0,
                          .most = 1}},
          .random = true,
          .codes = true,
          .cost = cost,
          .choose = choose};
}

}  // namespace fwsr
