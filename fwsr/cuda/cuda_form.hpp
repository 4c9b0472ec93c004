// The covariance form (solver/covariance_form.hpp) with everything on the card: C, E, the scores and the steps. The loop
// on the host says how far it can see (Form::expect), the card takes so many steps by itself (step.hpp), and the loop is
// told one after the other what was done. Where anything but an ordinary step comes, the card waits.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "fwsr/cuda/cuda_points.hpp"
#include "fwsr/solver/form.hpp"

namespace fwsr::cuda {

class CudaForm final : public Form {
 public:
  explicit CudaForm(CudaPoints& points);
  ~CudaForm() override;

  double objective() const override { return f_; }
  void expect(const Ahead& ahead) override { expected_ = ahead; }
  void offer(std::span<const double> prices) override { run_->set_prices(prices); }
  Pick best() override;
  Probe probe(const Pick& pick) override;
  void step(const Pick& pick, double gamma, double length) override;
  RunProducts take_products() override { return {.covariance = std::move(covariance_)}; }

 private:
  struct Known {
    StepRecord step;
    bool taken = false;
  };
  RunView view() const;
  void go_on();
  RunState read();
  void multiply_out();
  void recompute();

  CudaPoints& points_;
  CudaShard& shard_;
  Device& device_;
  Index dim_;
  std::shared_ptr<const Covariance> covariance_;
  Index id_;
  CardRun* run_;
  Array<double> et_, ec_, ce_, ece_;
  Array<double> a_, w_, cw_, rv_;
  Array<double> rest_;  // I - V^T V, V what is included; empty: I
  Array<RunState> state_;
  Array<StepRecord> record_;
  Ahead expected_;
  std::deque<Known> known_;  // what the card has found, and the loop has not asked for yet
  double f_ = 0;
  double seconds_each_ = 0;  // of the last steps
};

}  // namespace fwsr::cuda
