// What a method is given and what it answers. Internal: methods include this, their users method.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/methods/method.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/open_rows.hpp"
#include "fwsr/solver/selection.hpp"
#include "fwsr/solver/terms.hpp"

namespace fwsr {

/// What a method is given. The points are centred and scaled as the user asked, on the fly.
struct Task {
  const Points* points = nullptr;  // null: only a matrix is given
  const KernelMatrix* kernel =
      nullptr;  // their inner products, computed when asked for; null: `given`
  /// A square matrix of dissimilarities in place of points (metric = precomputed): the rows and columns of
  /// `subset`, or all of them when that is empty.
  const PointsView* given = nullptr;
  std::span<const Index> subset = {};
  bool linear = true;  // the kernel is the inner product of `points`
  Terms terms = {};    // what the points count, who may be chosen, who is there already
  OpenRows open = {};  // who may be chosen beside others (open_choice.hpp)
  Index exemplars = 0;
  bool codes = false;  // are asked for
  Settings settings = {};
  std::uint64_t seed = 0;
  int threads = 1;
  KeepGoing keep_going = {};  // from any thread; throw_if_cancelled(keep_going) ends the work
  /// Tells how many exemplars there are so far. Throws Interrupted when the one who watches says so.
  std::function<void(Index found)> report = [](Index) {};

  Index size() const;
  /// How much larger the points are here than the user's: distances scale with it, inner products
  /// with its square.
  double unit() const { return kernel ? kernel->unit() : 1; }
};

/// What a method answers; indices count the points of the task.
struct Picks {
  std::vector<Index> exemplars;  // in the order of choosing; fewer than asked: no more to find.
                                 // Not those that were there already
  std::vector<double> strength = {};   // the method's own measure of each; empty: none
  std::vector<double> codes = {};      // exemplars x points, row by row; empty: the method has none
  std::vector<Index> assignment = {};  // of every point; empty: to the nearest
  std::vector<double> importance = {};          // as in Selection, and so are
  std::vector<Index> clusters = {};             // these ...
  std::vector<std::vector<double>> atoms = {};  // ... and these
  Status status = Status::exemplars_reached;
  std::optional<Refinement> refinement = {};  // of exchange, behind the method
  std::vector<Fact> facts = {};
  std::vector<std::string> warnings =
      {};  // also why there are fewer than asked, unless none add anything
};

}  // namespace fwsr
