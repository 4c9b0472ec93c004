// Three kinds of trouble, three tools: Result for ordinary failure (a missing file, a bad header),
// Error for a broken promise of the caller (wrong sizes, NaN in the data), and Status (solver) for
// the way a run of the algorithm ended, which is no error at all.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace fwsr {

/// Why something could not be done: what was wrong, where (file, line, column), what to do.
struct Failure {
  std::string message;
};

/// A value or a Failure. Its names match std::expected, which our compilers do not have yet.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  const T& operator*() const& { return std::get<0>(state_); }
  T& operator*() & { return std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const Failure& error() const { return std::get<1>(state_); }
  T value() && {
    if (!has_value()) throw std::runtime_error(error().message);
    return std::get<0>(std::move(state_));
  }

 private:
  std::variant<T, Failure> state_;
};

/// For functions that only succeed or fail.
struct Done {};

/// The caller broke a promise; `what()` is a sentence the user can act on.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Thrown out of long work when the one who watches it said stop; no error either.
struct Interrupted {};

/// The work does not fit the memory it may use; thrown before the memory is taken.
struct MemoryError : Error {
  using Error::Error;
};

}  // namespace fwsr
