// L1 distances between blocks of points; compiled for several instruction sets (linalg/widest.hpp).
#pragma once

#include "fwsr/base/index.hpp"

namespace fwsr {

/// ||a_i - b_j||_1 for all rows of two blocks (d numbers each), to out[i * stride + j].
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
void absolute_distances(const DistanceBlock<float>& block);
void absolute_distances(const DistanceBlock<double>& block);

}  // namespace fwsr
