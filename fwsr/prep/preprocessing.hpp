// What happens to the points before the algorithm sees them. Always implicit: the caller's numbers
// are never changed or copied. Order: scale, then centre, then append eta.
#pragma once

namespace fwsr {

enum class Center {
  point,    ///< subtract from each point its own mean over the features (the paper, section 4.1.1)
  feature,  ///< subtract from each feature its mean over the points
  none,
};

enum class Scale {
  none,
  standard,  ///< divide each feature by its standard deviation over the points
  unit,      ///< divide each point by its Euclidean norm
};

struct Preprocessing {
  Center center = Center::point;
  Scale scale = Scale::none;
  double eta = 0;  ///< weight of ||X^T 1 - 1||^2, paper Eq. (2); a last feature equal to eta
  bool eta_relative =
      false;               ///< eta is in units of the root-mean-square norm of the centred points
  bool normalize = false;  ///< after centring, divide each point by its norm (the cosine kernel)
};

}  // namespace fwsr
