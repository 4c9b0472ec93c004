// --checkpoint: what a run has decided so far, in a file that another run of the same request goes on from.
#pragma once

#include <string>

#include "apps/json.hpp"
#include "apps/select_result.hpp"
#include "fwsr/solver/clock.hpp"
#include "fwsr/solver/recorder.hpp"

namespace CLI {
class App;
}

namespace fwsr::app {

struct CheckpointArguments {
  std::string path;
  double seconds = 30;
  bool resume = false;
};
void add_checkpoint_arguments(CLI::App& app, CheckpointArguments& a);
/// @throws UsageError
void check_checkpoint_arguments(const CLI::App& app, const CheckpointArguments& a,
                                const Request& request, bool per_class);

/// A run that was interrupted, and whose checkpoint was written.
struct Kept : Interrupted {
  explicit Kept(std::string name) : where(std::move(name)) {}
  std::string where;
};

class Checkpoint final : public Recorder {
 public:
  /// With `resume` the file is read, where there is one. @throws Error when it is of another request or other data
  Checkpoint(const CheckpointArguments& a, const SelectResult& of);

  const RunRecord& known() const override { return known_; }
  void begin(double f_at_zero) override;
  void step(const RecordedStep& step) override;
  void exchange(const RecordedExchange& state) override;
  /// Now. What cannot be written is a warning: the run goes on.
  void write();

 private:
  void read();
  void write_now_and_then();

  CheckpointArguments a_;
  Json request_;  // what is asked, and of what
  RunRecord known_, all_;
  Clock::time_point written_ = Clock::now();
};

}  // namespace fwsr::app
