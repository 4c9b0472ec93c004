// Kernels of squared distances between points on a card and a few others, block of rows by block of rows: the parts that
// are no matrix products. All matrices row by row.
#pragma once

#include "fwsr/cuda/device.hpp"
#include "fwsr/cuda/rows.hpp"

namespace fwsr::cuda {

/// rows_i <- rows_i - shift, and their squared norms.
void launch_shift(const Device& device, const double* shift, Index count, Index d, double* rows,
                  double* squares);
/// v_if <- times exp(-gamma ||a_i - f||^2), from v_if = <a_i, f> and squared norms.
struct Gaussians {
  double gamma = 1, times = 1;
  const double *squares = nullptr, *of_few = nullptr;
};
void launch_gaussians(const Device& device, const Gaussians& numbers, Index count, Index few,
                      double* v);
/// Numbers as they are stored, `stride` apart, zeros behind the last of a row.
void launch_store(const Device& device, const double* rows, Index count, Index d, Number number,
                  Index stride, void* out);
/// nearest_i: the first of the nearest of `few`, whose squares are K_ff and whose products with point i are v_i.
void launch_nearest(const Device& device, const double* v, const double* squares, Index count,
                    Index few, double rounding, int* nearest);
/// s_if = what point i counts in the mean of its group f, 0 in others: exp(-gamma ||a_i - f||^2), or 1 where gamma is 0.
void launch_memberships(const Device& device, const double* rows, const double* few, Index count,
                        Index k, Index d, double gamma, const int* groups, double* s);
/// gains_i = weight_p (at_p - ||a_i - mean_p||^2), p the group of point i.
struct Means {
  const double *means = nullptr, *weight = nullptr, *at = nullptr;
};
void launch_gains(const Device& device, const double* rows, const Means& means, Index count,
                  Index d, const int* groups, double* gains);
/// left_i = max(0, all - squares_i).
void launch_left(const Device& device, double all, Index n, double* squares);

}  // namespace fwsr::cuda
