// The answer: what was chosen, how the run went, and how good it is.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/kernel/kernel.hpp"
#include "fwsr/solver/options.hpp"

namespace fwsr {

/// How a run ended.
enum class Status {
  exemplars_reached,  ///< k distinct rows of X are non-zero
  converged,          ///< the gap closed first (`stop`), or matching pursuit met delta
  exhausted,          ///< nothing is left to represent: f <= 1e-12 f(0), or no descent direction
  iteration_limit,
  interrupted,  ///< the observer said stop: exemplars and trace so far, no weights, no certificate;
                ///< or finish, in the midst of exchanges: all of it, for the exemplars so far
  budget_spent,          ///< no candidate fits what is left of the budget
  error_reached,         ///< the exemplars leave no more than `until_error` unexplained
  time_limit,            ///< no further step was begun
  candidates_exhausted,  ///< everybody who may be chosen has been
};
const char* name_of(Status v);

/// One step of Algorithm 1.
struct Step {
  Index pick = -1;       // j of line 9
  double f = 0;          // objective after the step
  double gap = 0;        // at the X before the step; infinite in the matching-pursuit limit
  double step_size = 0;  // gamma of line 15
  double beta = 0;       // radius in force
  double score = 0;      // dual norm of the picked row of P = K - KX, before the step
  Index rows = 0;        // distinct non-zero rows of X after the step
};

/// Recomputed from the raw data and the codes, not carried over from the run. With a factor in
/// place of the kernel, f, f_at_zero and gap are those of the problem with F F^T for K; the
/// reconstruction error and the boolean objective are measured with the kernel itself.
/// Methods that solve another problem have no f, gap, beta and radius_used: NaN.
struct Certificate {
  double f = 0;            // ||A X - A||^2, with the eta row
  double f_at_zero = 0;    // ||A||^2, with the eta row
  double gap = 0;          // f - f* <= gap at the final radius; infinite for matching pursuit
  double beta = 0;         // the final radius
  double radius_used = 0;  // sum_i ||X^(i)||_q
  bool feasible = false;   // radius_used <= beta to rounding, and X >= 0 where asked
  double reconstruction_error = 0;          // ||A - P_T A||^2 / ||A||^2, without the eta row
  std::optional<double> boolean_objective;  // paper Eq. (1) for the given lambda and rho
  double f_error = 0;    // f is right to within this: what rounding may have done
  double gap_error = 0;  // and the gap to within this
  bool trusted = true;   // false: some points are so large that rounding took the digits of others
};

/// Work by what limits it, for estimates of time.
struct Operations {
  double products = 0;         // of matrix products in double
  double single_products = 0;  // in float32
  double loops = 0;            // of loops over vectors
  double bytes = 0;            // read from memory
  double fresh_bytes = 0;      // written for the first time
  double regions = 0;          // pieces of work that wait for all threads

  Operations& operator+=(const Operations& other);
};
Operations operator+(Operations a, const Operations& b);
Operations operator*(double times, const Operations& a);

/// Every form, one a line, in the order in which a plan prefers them where they take the same: gradient is described
/// by gradient_entry() of solver/gradient_plan.cpp.
#define FWSR_FORMS(FORM) \
  FORM(gradient)         \
  FORM(covariance)       \
  FORM(representer)

/// How (A, X, P) are represented.
#define FWSR_NAME(name) , name
enum class FormKind { none FWSR_FORMS(FWSR_NAME) };
#undef FWSR_NAME

/// All but none.
constexpr auto values_of(FormKind) {
#define FWSR_VALUE(name) FormKind::name,
  return std::array{FWSR_FORMS(FWSR_VALUE)};
#undef FWSR_VALUE
}

/// Where the kernel's values come from: half of K in memory, tiles computed when asked for, products with the points,
/// the caller's matrix, or a factor in its place.
enum class KernelBy { none, held, tiles, products, given, factor };
/// Empty for none.
const char* name_of(FormKind v);
const char* name_of(KernelBy v);

/// What will be run, and what it takes.
struct Plan {
  std::string method = "fwsr";
  FormKind form = FormKind::none;  // of other methods: none
  KernelType kernel = KernelType::linear;
  KernelBy kernel_by = KernelBy::none;
  Index rank = 0;  // columns asked of a factor in place of the kernel; 0: the kernel itself
  Refine refine = Refine::none;  // what is done with the exemplars once they are chosen
  std::string why = {};          // one sentence
  Index points = 0;
  Index features = 0;
  Index exemplars = 0;
  int threads = 1;
  std::string device = "cpu";      // or the card, as "cuda"
  Index device_bytes = 0;          // what the run will take of the card's memory
  bool device_reads_host = false;  // the points stay where they are, and the card reads them there
  Index memory_bytes = 0;          // what the run will take beside the data, all threads together
  Index memory_per_thread = 0;     // the part of it that every thread adds
  Index data_bytes = 0;            // the points themselves; streamed ones: what is held at a time
  double setup_flops = 0;
  double step_flops = 0;               // each step
  Index passes = 0;                    // over the data: set-up, about k steps, certificate
  bool certificate_in_double = false;  // where rounding of K in float32 leaves it too few digits
  // Of the whole set-up, one step, exchange, the certificate.
  Operations setup = {}, step = {}, exchange = {}, closing = {};
  double steps_each = 1;                // steps for an exemplar
  std::vector<std::string> notes = {};  // conversions and other facts the user should know
};

/// "covariance", "representer held".
std::string form_of(const Plan& plan);

struct Seconds {
  double read = 0, setup = 0, steps = 0, exchange = 0, certificate = 0, write = 0;
};

/// What `plan` takes, in seconds, set-up, steps and certificate: an estimate from its operations and
/// from how fast this processor is, which is measured once (linalg/rates.hpp). Within a factor of two of what idle
/// machines took in bench/results/plan_seconds.md.
Seconds estimated(const Plan& plan);
/// Their sum.
double estimated_seconds(const Plan& plan);

/// Theta and its basis: row t of X is Theta[t, :] K[basis, :] (q = 2, signs free), so that codes of
/// any point a, seen or new, are Theta k_basis(a). algorithm: docs/algorithm.md. With a factor in
/// place of the kernel the basis is its landmarks, and K the true kernel all the same.
struct Coefficients {
  std::vector<Index> basis;    // points whose kernel columns span the rows of X
  std::vector<double> theta;   // exemplars x basis, row by row
  std::vector<double> offset;  // added to each code; empty: none (only a factor with eta has one)
};

/// Something a method found out on its way: "objective", "iterations", ...
struct Fact {
  std::string name;
  double value = 0;  // in the user's units
};

/// What exchange made of the exemplars that were chosen (solver/exchange.hpp).
struct Refinement {
  double before = 0;                     // min_X ||A - A_T X||^2 + mu ||X||^2 ...
  double after_exchange = 0, after = 0;  // ... when no exchange helped any more, and at the end
  double mu = 0;
  Index exchanges = 0;
  Index rounds = 0;            // visits to all points
  bool local_optimum = false;  // no exchange of one exemplar for one other point helped any more
  Index moves = 0;             // to the middle of what an exemplar stands for (solver/middle.hpp)
  Index middle_rounds = 0;
};

struct Selection {
  std::vector<Index> exemplars;  // in the order of choosing
  std::vector<double> weights;   // how many points each one is nearest to
  std::vector<double> strength;  // ||X^(t)||_q of each; other methods: a measure of their own, or 0
  std::vector<bool>
      filled;  // true: not chosen by the algorithm but added by `fill`, or for a floor
  std::vector<bool> included;  // true: was there already; these come first
  Status status = Status::interrupted;
  std::vector<Step> trace;
  std::optional<Certificate> certificate;
  std::optional<Refinement> refinement;  // where exchange was asked for
  Plan plan;
  Seconds seconds;
  std::vector<Fact> facts;  // of methods other than fwsr
  double f_at_zero = 0;
  double beta = 0;                           // at the end
  double eta = 0;                            // absolute
  double eta_in_rms = 0;                     // the same in units of the root-mean-square norm
  double gamma = 0;                          // of the kernel, where it has one
  Index kernel_rank = 0;                     // columns of the factor in its place; 0: exact
  std::optional<double> kernel_error;        // tr(K - F F^T) / tr K of that factor F
  std::optional<Coefficients> coefficients;  // q = 2 and signs free
  std::vector<Index> assignment;             // asked for: for every point the rank of its exemplar
  std::vector<double> codes;                 // asked for: n x exemplars, row by row
  // What only some methods find; empty for all others.
  std::vector<double> importance;          // of every exemplar: what it counts for
  std::vector<Index> clusters;             // of every point: its cluster, from 0
  std::vector<std::vector<double>> atoms;  // of ksvd, beside the codes: one for each exemplar
  std::vector<std::string> warnings;
};

/// What an observer is told after each step.
struct Progress {
  enum class Stage { setup, steps, exchange, certificate };
  Stage stage = Stage::setup;
  Index step = 0;
  Index exemplars = 0;  // so far
  Index wanted = 0;
  double f = 0;
  double gap = 0;
  double f_at_zero = 0;
  Index exchanges = 0;  // of exemplars for other points, so far
};

const char* name_of(Progress::Stage v);

/// What an observer answers: true to go on, false to stop, or `finish`: exchanges end where they are, and weights and
/// certificate follow. In other stages that is to go on: nothing there could be left out.
class Reply {
 public:
  enum Kind { stop, go_on, finish };
  Reply(bool goes_on) : kind_(goes_on ? go_on : stop) {}
  Reply(Kind kind) : kind_(kind) {}
  Kind kind() const { return kind_; }
  operator bool() const { return kind_ != stop; }

 private:
  Kind kind_;
};

/// Called after each step, and now and then (with the same numbers) during long set-up, while exemplars are exchanged and
/// while weights and certificate are computed. The answer of a run that was told to stop or to finish says `interrupted`.
using Observer = std::function<Reply(const Progress&)>;

}  // namespace fwsr
