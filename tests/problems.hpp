// Random problems, one per seed: points of many kinds in every storage, and options of every kind.
// A problem owns its points, knows the same points as the oracle wants them, and can say what it
// is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/solver/options.hpp"
#include "oracle/oracle.hpp"

namespace problems {

using fwsr::Index;

enum class Kind { gaussian, low_rank, clustered, duplicates, nonnegative, offset, scaled };
inline constexpr int kinds = 7;

/// The alternatives of fwsr::PointsView, in its order.
enum class Storage { dense_f32, dense_f64, csr_f32_i32, csr_f64_i32, csr_f32_i64, csr_f64_i64 };

/// n x d numbers that can be lent out in any storage. Dense rows are padded with NaN, which nobody
/// may look at.
class Data {
 public:
  Data() = default;
  Data(Index n, Index d, const std::vector<double>& values, Storage storage);

  Index rows() const { return n_; }
  Index cols() const { return d_; }
  Storage storage() const { return storage_; }
  fwsr::PointsView view() const;
  /// The numbers as stored (rounded to float32 where that is the storage).
  oracle::Matrix<oracle::Real> exact() const;

 private:
  Index n_ = 0, d_ = 0, stride_ = 0;
  Storage storage_ = Storage::dense_f64;
  std::vector<float> singles_;
  std::vector<double> doubles_;
  std::vector<std::int32_t> starts32_, columns32_;
  std::vector<std::int64_t> starts64_, columns64_;
};

struct Problem {
  std::uint64_t seed = 0;
  Kind kind = Kind::gaussian;
  Data data;
  fwsr::SelectOptions options;

  bool is_single() const { return fwsr::is_single(data.view()); }
};

Problem make_problem(std::uint64_t seed);
/// "seed 17: 23 x 5 offset csr_f32_i64, k 4, alpha 3.1, ...": enough to meet it again.
std::string describe(const Problem& problem);

/// n x d values of one kind. `single`: stay within what float32 can hold.
std::vector<double> make_values(Kind kind, Index n, Index d, bool single, fwsr::Rng& rng);

/// What the oracle needs to run the same problem.
struct Reference {
  oracle::Matrix<oracle::Real> points;  // preprocessed, without eta; K itself when precomputed
  oracle::Matrix<oracle::Real> plain;   // K without eta
  oracle::Matrix<oracle::Real> k;       // K with eta
  oracle::Real eta = 0;                 // absolute
  oracle::Real rms = 0;                 // root of the mean diagonal of `plain`
  oracle::Settings settings;
};

/// `gamma`: of the kernel, for options that leave it to the library.
Reference reference_of(const oracle::Matrix<oracle::Real>& raw, const fwsr::SelectOptions& options,
                       double gamma);
/// For every row the first one with the same numbers: Settings::copy_of.
std::vector<Index> copies_in(const oracle::Matrix<oracle::Real>& m);
oracle::Settings settings_of(const fwsr::SelectOptions& options, Index n);

}  // namespace problems
