// Long work on a thread of its own, while the calling thread looks after Python: it answers Ctrl-C and
// calls the one who watches, both on the thread that called.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <nanobind/nanobind.h>
#include <omp.h>

#include "fwsr/base/result.hpp"
#include "fwsr/methods/compare.hpp"

namespace fwsr::python {

namespace nb = nanobind;

/// The callback stopped work that has no answer to show yet.
struct Stopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Who is told how far the work has come.
struct Watch {
  nb::object callback;      // None: nobody; else told ten times a second ...
  bool every_step = false;  // ... and of each step and stage, for which the work waits
};

/// A call into the core, counted from its first line to its last.
///
/// A thread that asks a dying interpreter for its lock is ended where it stands, with all that it holds, and one
/// that is told of an error there writes it to a stream that the interpreter is about to flush, which ends the
/// process with another. So a thread at work when Python exits stays in the core: it waits, without the lock, for the
/// end of the process.
class Live {
 public:
  /// @throws Stopped on the thread that ends Python; others do not come back when it ends
  Live();
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;
  ~Live();

  /// Once Python is ending, does not return. @pre without the interpreter's lock
  static void stay_if_ending();
  /// Whether Python is ending: its lock must not be asked for.
  static bool ending();
};
/// Before the interpreter goes: stops all work, and waits until no thread is on its way back to it.
void stop_all();
/// Has stop_all called when Python exits, and forgets in a forked child what only its parent does.
void stop_all_at_exit();

class Watched {
 public:
  explicit Watched(Watch watch) : watch_(std::move(watch)) {}

  /// Whether a signal or the callback has raised something, or Python is ending: nobody waits for the work any more.
  bool broken_off() const { return broken_off_ || Live::ending(); }

  /// work(observer) without the interpreter's lock. What it throws is thrown on; so is what the callback
  /// or a signal raised. A callback that returns False stops the work.
  template <class Work>
  auto run(Work&& work) -> decltype(work(std::declval<const CompareObserver&>())) {
    std::optional<decltype(work(std::declval<const CompareObserver&>()))> answer;
    std::exception_ptr error;
    const CompareObserver observer = [this](const CompareProgress& p) { return tell(p); };
    const int threads = omp_get_max_threads();  // as set for the calling thread: threadpoolctl
    {
      const nb::gil_scoped_release released;
      std::thread worker([&] {
        omp_set_num_threads(threads);
        try {
          answer.emplace(work(observer));
        } catch (const Interrupted&) {
          error = std::make_exception_ptr(Stopped("the callback stopped the work"));
        } catch (...) {
          error = std::current_exception();
        }
        const std::lock_guard lock(mutex_);
        done_ = true;
        changed_.notify_all();
      });
      look_after_python();
      worker.join();
      Live::stay_if_ending();
    }
    if (raised_) std::rethrow_exception(raised_);
    if (error) std::rethrow_exception(error);
    return std::move(*answer);
  }

 private:
  /// Of the work's threads. @return false: stop
  bool tell(const CompareProgress& progress);
  /// Until the work is done, or told to stop.
  void look_after_python();
  /// With the interpreter's lock: signals, then the callback. @return false: stop
  bool ask_python(const std::optional<CompareProgress>& news);

  Live counted_;
  Watch watch_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false, stopped_ = false;
  bool waiting_ = false;                          // the work waits until its news are told
  std::optional<CompareProgress> news_;           // not told yet
  std::array<Index, 4> last_ = {-1, -1, -1, -1};  // method, trial, step and stage told last
  std::exception_ptr raised_;
  std::atomic<bool> broken_off_ = false;  // for other threads: something was raised
};

}  // namespace fwsr::python
