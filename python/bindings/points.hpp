// Points of Python's: arrays borrowed in place, rows of a file that are fetched when needed, or what
// the readers of fwsr/data made of a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "fwsr/base/index.hpp"
#include "fwsr/data/dataset.hpp"
#include "fwsr/solver/device.hpp"

namespace fwsr::python {

namespace nb = nanobind;

/// Any array in this machine's memory, never written to.
using Array = nb::ndarray<nb::ro, nb::device::cpu>;

/// Any array in the memory of a card, never written to.
using CardArray = nb::ndarray<nb::ro, nb::device::cuda>;

/// A view, and what keeps it alive.
struct GivenPoints {
  PointsView view;
  std::vector<Array> arrays = {};         // borrowed by the view ...
  std::optional<Dataset> file = {};       // ... or where it stands
  std::optional<DeviceView> there = {};   // on a card, in place of `view` ...
  std::optional<CardArray> on_card = {};  // ... borrowed from this

  Index rows() const { return there ? there->rows : rows_of(view); }
  Index cols() const { return there ? there->cols : cols_of(view); }
  /// The view. Throws Error where the points are on a card.
  const PointsView& here() const;
};

/// A matrix of float32, float64 or narrow numbers whose rows are contiguous; rows may be any distance apart. `bfloat16`:
/// what look like uint16 are the bits of such numbers.
GivenPoints dense_points(const Array& matrix, bool bfloat16 = false);

/// A matrix of float16, bfloat16, float32 or float64 numbers on a card, whose rows are contiguous. What others do with it
/// is waited for.
GivenPoints card_points(const CardArray& matrix);
/// The same by its address, for who tells no more; the caller keeps it alive. `type` is as NumPy names it.
GivenPoints card_points_at(std::uintptr_t address, const std::string& type, Index rows, Index cols,
                           Index stride, int device);

/// The arrays of a SciPy CSR matrix: float32 or float64, indices of 32 or 64 bits. Checked: a matrix that
/// breaks a promise of CsrView is refused.
GivenPoints sparse_points(const Array& values, const Array& columns, const Array& starts,
                          Index features);

/// rows x cols numbers of `type` (as NumPy names it) from byte `offset` of a file on, which stay there.
GivenPoints file_points(const std::string& path, const std::string& type, Index rows, Index cols,
                        Index offset);

GivenPoints dataset_points(Dataset data);

/// Throws Error when the file of the points has changed.
void require_unchanged(const GivenPoints& points);

}  // namespace fwsr::python
