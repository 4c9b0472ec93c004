// A CudaShard that is asked in bytes (solver/transport.hpp): a portion of points of which others are on other cards.
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/result.hpp"
#include "fwsr/cuda/cuda_shard.hpp"
#include "fwsr/solver/answer.hpp"
#include "fwsr/solver/on_card.hpp"

namespace fwsr {

namespace {

using namespace cuda;

/// Whatever thread asks works with our card, and then has the one it had before.
class CardInBytes final : public ByteShard {
 public:
  CardInBytes(const PointsView& view, std::span<const Index> subset, const Preprocessing& prep,
              const Portion& portion, Index rows_before, const CardFor& card, int threads)
      : device_(std::make_shared<Device>(card.number, card.memory)), shard_(device_) {
    refuse_many_features(*device_, cols_of(view));
    // None of them: no memory of the view is looked at.
    const bool none = portion.size == 0;
    std::shared_ptr<const Stored> stored =
        none ? std::make_shared<Stored>(Stored::room(
                   *device_, is_single(view) ? Number::float32 : Number::float64, 0, cols_of(view)))
             : Stored::copy(*device_, view, subset, threads);
    shard_.add(0,
               std::make_unique<DevicePoints>(*device_, std::move(stored), std::span<const Index>{},
                                              prep, portion, rows_before));
    device_->leave();
  }
  ~CardInBytes() override {
    try {
      device_->enter();
    } catch (...) {  // a card that is gone has given everything back
    }
  }
  CardInBytes(const CardInBytes&) = delete;
  CardInBytes& operator=(const CardInBytes&) = delete;

  Bytes answer(std::span<const std::byte> question) noexcept override {
    try {
      device_->enter();
    } catch (const std::exception& e) {
      return went_wrong(Outcome::error, e.what());
    }
    Bytes reply = answer_in_bytes(shard_, question);
    device_->leave();
    return reply;
  }

 private:
  std::shared_ptr<Device> device_;
  CudaShard shard_;
};

}  // namespace

std::unique_ptr<ByteShard> shard_on_card(const PointsView& view, std::span<const Index> subset,
                                         const Preprocessing& prep, const Portion& portion,
                                         Index rows_before, const CardFor& card, int threads) {
  return std::make_unique<CardInBytes>(view, subset, prep, portion, rows_before, card, threads);
}

}  // namespace fwsr
