// Every option that shapes a selection, listed once: command line, JSON and bindings read `describe`.
#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>

#include "fwsr/base/index.hpp"
#include "fwsr/kernel/kernel.hpp"
#include "fwsr/prep/preprocessing.hpp"
#include "fwsr/solver/conditions.hpp"
#include "fwsr/solver/device.hpp"

namespace fwsr {

class Recorder;

enum class Norm { one, two, infinity };  ///< q of the constraint sum_i ||X^(i)||_q <= beta
/// What to do with the exemplars once there are k; middle: exchange, and then to the middle of what each stands for.
enum class Refine { none, exchange, middle };
enum class WhenConverged { grow, stop };  ///< what to do when the gap closes before k exemplars
enum class CertificateKind { full, none };

/// A number, or nothing: the library's own choice, which people write as "auto".
class NumberOrAuto {
 public:
  NumberOrAuto() = default;
  NumberOrAuto(double number) : number_(number) {}
  explicit operator bool() const { return number_.has_value(); }
  double operator*() const { return *number_; }  ///< @pre it is a number
  void reset() { number_.reset(); }
  friend bool operator==(const NumberOrAuto&, const NumberOrAuto&) = default;
  friend bool operator<(const NumberOrAuto& a, const NumberOrAuto& b) {  // auto first
    return a.number_ < b.number_;
  }

 private:
  std::optional<double> number_ = {};
};
inline constexpr const char* auto_name = "auto";
std::string text_of(const NumberOrAuto& value);  // "0.5", or "auto"

struct SelectOptions {
  Index exemplars = 0;      ///< k
  NumberOrAuto alpha = {};  ///< beta = n / alpha; 0 is the matching-pursuit limit; auto: beta
  std::optional<double> beta = {};  ///< radius of the constraint ball; unset, with alpha auto: 10 k
  double eta = 0;
  bool eta_relative = false;
  Norm q = Norm::two;
  bool nonneg = false;  ///< X >= 0
  Kernel kernel = {};
  Index rank = 0;                     ///< columns of a factor in place of the kernel; 0: exact
  std::optional<Center> center = {};  ///< unset: point for the linear kernel, none for the others
  Scale scale = Scale::none;
  WhenConverged when_converged = WhenConverged::grow;
  bool fill = false;
  Refine refine = Refine::none;
  bool refine_suits = false;  ///< of methods that choose `refine` by the points: nobody named one
  double ridge = 0.1;         ///< of exchange: mu in units of the mean K_ii
  Index refine_rounds = 0;    ///< at most; 0: until nothing changes
  double delta = 1e-8;
  bool delta_absolute = false;
  std::optional<Index> max_iterations = {};  ///< unset: 100 k + 1000
  std::optional<double> lambda = {};         ///< of the boolean objective, paper Eq. (1)
  std::optional<double> rho = {};
  std::optional<double> budget = {};       ///< for the costs of all exemplars
  std::optional<double> until_error = {};  ///< enough: no more than this share is unexplained
  std::optional<double> time_limit = {};   ///< seconds for set-up and steps
  CertificateKind certificate = CertificateKind::full;
  Conditions conditions = {};
  bool codes = false;
  bool assignment = false;
  bool precise = false;
  int threads = 0;               ///< 0: all cores
  Index memory = 0;              ///< bytes; 0: 80 % of what the machine has free
  DeviceChoice device = {};      ///< where the work is done
  Index device_memory = 0;       ///< bytes of the card; 0: all that are free
  Recorder* recorder = nullptr;  ///< of checkpoints; null: nothing is recorded
};

/// Visits every option as (name, member, sentence). Names are those of the command line and of the
/// JSON result, without dashes in front.
template <class Options, class Visit>
requires std::same_as<std::remove_const_t<Options>, SelectOptions>
void describe(Options& o, Visit&& visit) {
  visit("exemplars", o.exemplars, "how many points to choose");
  visit("alpha", o.alpha,
        "radius as beta = n / alpha (the paper's 0.5 to 50); 0 is the matching-pursuit limit; "
        "auto: beta, or where that is not given either 10 k");
  visit("beta", o.beta, "radius of the constraint on the codes, in place of alpha");
  visit("eta", o.eta, "penalty for codes whose sum is not 1");
  visit("eta_relative", o.eta_relative,
        "eta is in units of the root-mean-square norm of the centred points");
  visit("q", o.q, "norm of the rows of the codes: 1, 2 or inf");
  visit("nonneg", o.nonneg, "allow only codes >= 0");
  const KernelWords& kernels = kernel_words();
  visit("kernel", o.kernel.type, kernels.all.c_str());
  visit("gamma", o.kernel.gamma, ("width of the kernel (default: " + kernels.widths + ")").c_str());
  visit("degree", o.kernel.degree, ("degree of the " + kernels.with_degree + " kernel").c_str());
  visit("coef0", o.kernel.coef0, ("constant of the " + kernels.with_degree + " kernel").c_str());
  visit("rank", o.rank,
        (kernels.computed + ": a factor with this many columns in place of the kernel, O(n rank) a "
                            "step and no n x n matrix; 0: the kernel itself")
            .c_str());
  visit("center", o.center,
        "subtract means: point, feature or none (default: point for the linear kernel, else none)");
  visit("scale", o.scale,
        "before centring: standard (each feature to variance 1), unit (each point to norm 1) or "
        "none");
  visit("when_converged", o.when_converged,
        "when the gap closes before k exemplars: grow (enlarge beta and go on) or stop (as the "
        "paper)");
  visit("fill", o.fill,
        "fill a short answer up to k with the farthest remaining points, marked as filled");
  visit(
      "refine", o.refine,
      "exchange: exchange exemplars for other points as long as that represents all points better "
      "(the ridge form of the paper's Eq. (1)); middle: exchange, then move each to the middle of "
      "the points that it stands for; none: as they were chosen");
  visit("ridge", o.ridge, "of refine: the ridge weight, in units of the mean squared norm");
  visit("refine_rounds", o.refine_rounds,
        "of refine: visits to the points at most, and rounds of moving to the middle; 0: until no "
        "exchange helps, and none moves");
  visit("delta", o.delta,
        "the gap is closed when it is at most delta times the objective at X = 0");
  visit("delta_absolute", o.delta_absolute, "delta is absolute, as in the paper");
  visit("max_iterations", o.max_iterations, "limit on steps (default 100 k + 1000)");
  visit("lambda", o.lambda, "with rho: report the boolean objective of the paper's Eq. (1)");
  visit("rho", o.rho, "with lambda: ridge weight of the boolean objective");
  visit("budget", o.budget,
        "what all exemplars together may cost; the number of exemplars is then optional");
  visit("until_error", o.until_error,
        "stop when the exemplars leave at most this share of the points unexplained; the number of "
        "exemplars is then a limit");
  visit("time_limit", o.time_limit,
        "seconds after which no further step is begun; weights and certificate come on top");
  visit("certificate", o.certificate,
        "full: recompute objective, gap and error from the raw data; none: skip");
  visit("precise", o.precise, "float32 points: matrix products of the set-up in double precision");
}

/// The first thing wrong with `o` for n points of d features, as a sentence a user can act on;
/// empty when all is well.
std::optional<std::string> find_problem(const SelectOptions& o, Index n, Index d);

/// Whether who may be chosen, or what is to be represented, is subject to conditions. Those that ask nothing (weights of
/// 1, all points candidates) are none, and neither is a time limit.
bool is_conditional(const SelectOptions& o);

/// Every value of an enumeration, for those who read its names.
constexpr auto values_of(Center) {
  return std::array{Center::point, Center::feature, Center::none};
}
constexpr auto values_of(Scale) {
  return std::array{Scale::none, Scale::standard, Scale::unit};
}
constexpr auto values_of(Norm) {
  return std::array{Norm::one, Norm::two, Norm::infinity};
}
constexpr auto values_of(WhenConverged) {
  return std::array{WhenConverged::grow, WhenConverged::stop};
}
constexpr auto values_of(Refine) {
  return std::array{Refine::none, Refine::exchange, Refine::middle};
}
constexpr auto values_of(CertificateKind) {
  return std::array{CertificateKind::full, CertificateKind::none};
}

// Names as on the command line: "point", "rbf", "2", "grow", ...
const char* name_of(Center v);
const char* name_of(Scale v);
const char* name_of(Norm v);
const char* name_of(WhenConverged v);
const char* name_of(Refine v);
const char* name_of(CertificateKind v);

/// What the user's choice of radius and centring means for n points.
double effective_beta(const SelectOptions& o, Index n);  // infinity for alpha = 0
Center effective_center(const SelectOptions& o);
Index effective_max_iterations(const SelectOptions& o);

}  // namespace fwsr
