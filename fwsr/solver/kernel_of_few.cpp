#include "fwsr/solver/kernel_of_few.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "fwsr/base/result.hpp"
#include "fwsr/base/typical.hpp"

namespace fwsr {

namespace {

class KernelOfFew final : public KernelMatrix {
 public:
  explicit KernelOfFew(FewPoints points) : points_(std::move(points)) {}

  Index size() const override { return points_.facts.size; }
  double unit() const override { return points_.facts.unit; }
  double rms_norm() const override { return points_.facts.rms_norm; }
  double eta() const override { return points_.facts.eta; }
  bool single() const override { return false; }

  double diagonal(Index i, Eta eta) const override {
    const double extra = eta == Eta::included ? this->eta() * this->eta() : 0.0;
    const std::lock_guard lock(mutex_);
    auto found = squares_.find(i);
    if (found == squares_.end()) {
      std::vector<Index> wanted{i};
      if (squares_.empty()) wanted = typical_places(size()), wanted.push_back(i);
      const std::vector<double> squares = points_.squares(wanted);
      for (std::size_t w = 0; w < wanted.size(); ++w) squares_[wanted[w]] = squares[w];
      found = squares_.find(i);
    }
    return found->second + extra;
  }

  std::vector<double> values(std::span<const Index> rows, std::span<const Index> columns,
                             Eta eta) const override {
    std::map<Index, Index> places;
    std::vector<Index> wanted;
    const auto place = [&](std::span<const Index> some) {
      std::vector<Index> at;
      for (const Index i : some) {
        const auto [known, fresh] = places.try_emplace(i, std::ssize(wanted));
        if (fresh) wanted.push_back(i);
        at.push_back(known->second);
      }
      return at;
    };
    const std::vector<Index> left = place(rows), right = place(columns);
    if (wanted.empty()) return {};
    const std::unique_ptr<Points> few = points_.copies(wanted);
    return make_tiled_kernel(*few, {.type = KernelType::linear}, {})->values(left, right, eta);
  }

  void scan(Index, Index, const VisitTile&) const override { refuse(); }
  Index row_block() const override { refuse(); }

 private:
  [[noreturn]] static void refuse() {
    throw Error("all inner products of points that live somewhere else are not to be had");
  }

  FewPoints points_;
  mutable std::mutex mutex_;
  mutable std::map<Index, double> squares_;
};

}  // namespace

std::unique_ptr<KernelMatrix> make_kernel_of_few(FewPoints points) {
  return std::make_unique<KernelOfFew>(std::move(points));
}

}  // namespace fwsr
