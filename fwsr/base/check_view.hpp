// Whether a view is one: asked of everything that is given from outside, before it is looked at.
#pragma once

#include "fwsr/base/index.hpp"

namespace fwsr {

/// Throws Error, with what to give instead, for a view that cannot be one: negative sizes, no numbers,
/// rows that overlap. Looks at the view, and at no point. Everything that takes points asks first.
void check_view(const PointsView& points);

/// The same, and every promise of CsrView about its entries, of which its arrays hold `stored`: one
/// look at each.
template <class T, class I>
void check_entries(const CsrView<T, I>& points, Index stored);

}  // namespace fwsr
