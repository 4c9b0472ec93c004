// Orthogonal matching pursuit of one point over atoms of norm 1, by its products with the atoms and those of the atoms with
// each other alone (Rubinstein, Zibulevsky and Elad 2008): the residual itself is not needed.
//
// Again and again the atom most correlated with what is left, then least squares on all that were chosen. With G the
// products of these atoms, G = L L^T one row longer each time, and p their products with the point: L L^T x = p, and what
// is left has the products p - G x with all atoms.
#pragma once

#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// The codes of a point: which atoms, and how much of each.
struct Code {
  std::vector<Index> atoms;
  std::vector<double> values;
};

class SparseCoder {
 public:
  /// `gram`: products of the atoms, atoms x atoms.
  SparseCoder(const std::vector<double>& gram, Index atoms, Index sparsity);

  /// Of a point with these products and this squared norm.
  Code code(const double* products, double square) const;

 private:
  /// One more row of L; false: the atom is in the span of the others.
  bool extend(Code& found, Index next, std::vector<double>& lower) const;

  const std::vector<double>& gram_;
  Index k_, sparsity_;
};

}  // namespace fwsr
