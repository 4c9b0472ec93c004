// What a run decides, for checkpoints: kept here, and now and then given to Python, which writes it down.
#pragma once

#include <chrono>

#include <nanobind/nanobind.h>

#include "fwsr/solver/recorder.hpp"

namespace fwsr::python {

namespace nb = nanobind;

/// Of a run of n points. The run tells it without the interpreter's lock, from one thread.
class Record final : public Recorder {
 public:
  /// `known`: what an earlier run's as_python() was, or None. write(record) is called every so many seconds.
  Record(const nb::object& known, Index n, double seconds, nb::object write);

  const RunRecord& known() const override { return known_; }
  void begin(double f_at_zero) override;
  void step(const RecordedStep& step) override;
  void exchange(const RecordedExchange& state) override;

  /// All of it, numbers and lists of numbers; None: no run has begun.
  nb::object as_python() const;

 private:
  using Clock = std::chrono::steady_clock;
  void write_now_and_then();

  RunRecord known_, all_;
  bool begun_ = false;
  double seconds_;
  Clock::time_point written_ = Clock::now();
  nb::object write_;
};

void bind_record(nb::module_& m);

}  // namespace fwsr::python
