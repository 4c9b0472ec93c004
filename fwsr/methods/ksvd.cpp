// K-SVD (Aharon, Elad and Bruckstein 2006): k atoms of norm 1, the rows of D, and codes with at most s = `sparsity` not
// zero for every point,
//
//   minimise  ||A - D^T X||^2   over D and X,   a_i about sum_t X_ti d_t,
//
// in turns: X by orthogonal matching pursuit, then every atom with its row of X as the best approximation of rank one of
// what the others leave of the points that use it, E = d_t x_t^T. With D replaced by the points themselves, and rows of X
// that are mostly zero instead of columns, this is the problem of FWSR.
//
// The objective never rises: where matching pursuit finds worse codes for a point than it had, it keeps these; the search
// for an atom begins at the atom. The start are points drawn at random; an atom that nobody uses becomes the point that
// is represented worst. It ends when a turn lowers the objective by less than `tolerance` of it, or of a thousandth of
// ||A||^2.
//
// Exemplars: for each atom the point with the smallest angle to it, |<a_i, d_t>| / ||a_i||, all distinct; atoms whose rows
// of X are longer choose first, and this is their order.
#include <algorithm>
#include <cmath>
#include <vector>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/lanczos.hpp"
#include "fwsr/linalg/large_array.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/methods/all_products.hpp"
#include "fwsr/methods/first_best.hpp"
#include "fwsr/methods/task.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

namespace {

constexpr double rounding = 1e-10;  // of the squared norm: what is not left of a point

/// The codes of a point: which atoms, and how much of each.
struct Code {
  std::vector<Index> atoms;
  std::vector<double> values;
};

/// Orthogonal matching pursuit of one point, by its products with the atoms and those of the atoms with each other
/// (Rubinstein, Zibulevsky and Elad 2008): the residual itself is not needed.
class Coder {
 public:
  Coder(const std::vector<double>& gram, Index atoms, Index sparsity)
      : gram_(gram), k_(atoms), sparsity_(std::min(sparsity, atoms)) {}

  Code code(const double* products, double square) const {
    Code found;
    std::vector<double> left(products, products + k_), lower;
    double error = square;
    while (static_cast<Index>(found.atoms.size()) < sparsity_ && error > rounding * square) {
      const Index next = first_largest(k_, [&](Index t) {
        const bool used = std::find(found.atoms.begin(), found.atoms.end(), t) != found.atoms.end();
        return used ? 0.0 : std::abs(left[at(t)]);
      });
      if (next < 0 || !extend(found, next, lower)) break;
      found.values = solve(found.atoms, lower, products);
      left.assign(products, products + k_);
      error = square;
      for (std::size_t u = 0; u < found.atoms.size(); ++u) {
        const double* const row = gram_.data() + found.atoms[u] * k_;
        for (Index t = 0; t < k_; ++t) left[at(t)] -= found.values[u] * row[t];
        error -= found.values[u] * products[found.atoms[u]];
      }
    }
    return found;
  }

 private:
  /// One more row of the Cholesky factor; false: the atom is in the span of the others.
  bool extend(Code& found, Index next, std::vector<double>& lower) const {
    const std::size_t m = found.atoms.size();
    std::vector<double> row(m + 1);
    double rest = 1;
    for (std::size_t u = 0; u < m; ++u) {
      double sum = gram_[at(next * k_ + found.atoms[u])];
      for (std::size_t v = 0; v < u; ++v) sum -= row[v] * lower[u * (u + 1) / 2 + v];
      row[u] = sum / lower[u * (u + 1) / 2 + u];
      rest -= row[u] * row[u];
    }
    if (rest <= 1e-12) return false;
    row[m] = std::sqrt(rest);
    lower.insert(lower.end(), row.begin(), row.end());  // packed, row by row
    found.atoms.push_back(next);
    return true;
  }

  static std::vector<double> solve(const std::vector<Index>& atoms,
                                   const std::vector<double>& lower, const double* products) {
    const std::size_t m = atoms.size();
    std::vector<double> x(m);
    for (std::size_t u = 0; u < m; ++u) {
      x[u] = products[atoms[u]];
      for (std::size_t v = 0; v < u; ++v) x[u] -= lower[u * (u + 1) / 2 + v] * x[v];
      x[u] /= lower[u * (u + 1) / 2 + u];
    }
    for (std::size_t u = m; u-- > 0;) {
      for (std::size_t v = u + 1; v < m; ++v) x[u] -= lower[v * (v + 1) / 2 + u] * x[v];
      x[u] /= lower[u * (u + 1) / 2 + u];
    }
    return x;
  }

  const std::vector<double>& gram_;
  Index k_, sparsity_;
};

class KSvd {
 public:
  explicit KSvd(const Task& task)
      : task_(task),
        n_(task.size()),
        d_(task.points->dim()),
        residuals_(make_large_array<double>(n_ * d_)),
        codes_(at(n_)) {
    draw_atoms();
    for_blocks(task.threads, n_, [&](Index, Index first, Index last) {
      task.points->rows(first, last, residuals_.get() + first * d_);
    });
  }

  Index atoms() const { return static_cast<Index>(atoms_.size()) / d_; }
  const double* atom(Index t) const { return atoms_.data() + t * d_; }
  const std::vector<double>& all_atoms() const { return atoms_; }
  const std::vector<Code>& codes() const { return codes_; }

  double objective() const {
    return block_sum(task_.threads, n_, [&](Index i) { return dot(residual(i), residual(i), d_); });
  }

  /// X for the atoms as they are.
  void find_codes() {
    const Index k = atoms();
    std::vector<double> gram(at(k * k));
    multiply(Product<double>{.op_b = Op::transpose,
                             .m = k,
                             .n = k,
                             .k = d_,
                             .left = atoms_.data(),
                             .right = atoms_.data(),
                             .out = gram.data()});
    const Coder coder(gram, k, task_.settings.whole("sparsity"));
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
            take_if_better(
                i, points.data() + (i - first) * d_,
                coder.code(products.data() + (i - first) * k, task_.points->squared_norm(i)));
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
        improve(t, uses[at(t)]);
    }
  }

 private:
  struct Use {
    Index point;
    std::size_t place;  // in its code
  };
  static constexpr Index block = 256;

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

  void take_if_better(Index i, const double* point, Code found) {
    std::vector<double> left(point, point + d_);
    for (std::size_t u = 0; u < found.atoms.size(); ++u)
      for (Index l = 0; l < d_; ++l) left[at(l)] -= found.values[u] * atom(found.atoms[u])[l];
    double* const before = residual(i);
    if (dot(left.data(), left.data(), d_) > dot(before, before, d_)) return;
    std::copy(left.begin(), left.end(), before);
    codes_[at(i)] = std::move(found);
  }

  std::vector<std::vector<Use>> uses_of_atoms() const {
    std::vector<std::vector<Use>> uses(at(atoms()));
    for (Index i = 0; i < n_; ++i)
      for (std::size_t u = 0; u < codes_[at(i)].atoms.size(); ++u)
        uses[at(codes_[at(i)].atoms[u])].push_back({i, u});
    return uses;
  }

  /// The leading singular vector of the rows e_i = r_i + x_ti d_t becomes the atom, and <e_i, d_t> its codes.
  void improve(Index t, const std::vector<Use>& uses) {
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

/// For each atom, in this order, the point of the smallest angle that no other has.
std::vector<Index> nearest_points(const Task& task, const KSvd& model,
                                  const std::vector<Index>& order) {
  const Index d = task.points->dim();
  std::vector<Index> found(order.size(), -1);
  std::vector<bool> taken(at(task.size()));
  std::vector<std::size_t> open(order.size());
  for (std::size_t o = 0; o < open.size(); ++o) open[o] = o;
  while (!open.empty()) {
    std::vector<double> rows;
    for (const std::size_t o : open)
      rows.insert(rows.end(), model.atom(order[o]), model.atom(order[o]) + d);
    const auto count = static_cast<Index>(open.size());
    std::vector<FirstBest> best(open.size(), FirstBest(rough_width));
    AllProducts products(*task.points, count);
    products.visit(rows, count, [&](Index begin, Index end, const double* values) {
      throw_if_cancelled(task.keep_going);
      for (Index v = 0; v < count; ++v)
        for (Index i = begin; i < end; ++i) {
          const double square = task.points->squared_norm(i);
          if (!taken[at(i)] && square > 0)
            best[at(v)].tell(
                i, std::abs(values[v * AllProducts::tile + i - begin]) / std::sqrt(square));
        }
    });
    std::vector<std::size_t> left;
    for (std::size_t v = 0; v < open.size(); ++v) {
      const Index i = best[v].index();
      if (i < 0) continue;  // orthogonal to all that are left
      if (taken[at(i)]) {
        left.push_back(open[v]);
        continue;
      }
      taken[at(i)] = true;
      found[open[v]] = i;
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
  const double tolerance = task.settings.number("tolerance"), energy = model.objective();
  model.find_codes();
  double objective = model.objective();
  Index turn = 0;
  bool converged = most == 0;
  while (!converged && turn < most) {
    ++turn;
    if (turn > 1) model.find_codes();
    model.improve_atoms();
    const double now = model.objective();
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
  const double turns = std::min(25.0, static_cast<double>(settings.whole("max_iterations")) + 1);
  const double rows = 256;
  return {.bytes = 8 * (s.n * s.d + 3 * s.k * s.d + s.k * s.k) + s.n * (64 + 32 * sparse + 16) +
                   8 * std::max(s.crew(rows) * s.held(rows) * (s.d + s.k),
                                AllProducts::tile * (s.d + s.k)),
          .flops = turns * s.n * (2 * s.d * s.k + 40 * sparse * s.k + 150 * sparse * s.d),
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
