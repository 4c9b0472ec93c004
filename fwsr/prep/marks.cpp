// Points that look like marks for missing values: -999, 1e20, 9.97e36. They are numbers like others, so that
// nothing fails; but they are the largest by far, and so the first to be chosen.
#include "fwsr/prep/marks.hpp"

#include <algorithm>

namespace fwsr {

void ConstantRows::see(Index point, const RowSums& row, Index features, bool centred) {
  const double all = static_cast<double>(features) * row.largest * row.largest;
  const bool constant = row.largest > 0 && features > 1 &&
                        (centred ? row.squares <= 1e-24 * all : row.squares >= (1 - 1e-12) * all);
  if (!constant)
    largest_other = std::max(largest_other, row.largest);
  else if (row.largest > largest)
    largest = row.largest, first = point;
}

}  // namespace fwsr
