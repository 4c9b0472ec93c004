// Distances between blocks of points; compiled for several instruction sets (linalg/widest.hpp).
#pragma once

#include "fwsr/base/index.hpp"

namespace fwsr {

/// Two blocks of rows of d numbers each; the distance of a_i and b_j goes to out[i * stride + j].
template <class T>
struct DistanceBlock {
  const T* left = nullptr;
  Index rows = 0;
  const T* right = nullptr;
  Index columns = 0;
  Index d = 0;
  T* out = nullptr;
  Index stride = 0;
};
/// ||a_i - b_j||_1.
void absolute_distances(const DistanceBlock<float>& block);
void absolute_distances(const DistanceBlock<double>& block);
/// ||a_i - b_j||^2, from the differences.
void squared_distances(const DistanceBlock<double>& block);

}  // namespace fwsr
