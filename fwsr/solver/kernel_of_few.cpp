#include "fwsr/solver/kernel_of_few.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "fwsr/base/result.hpp"
#include "fwsr/base/typical.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/kernel/kernel_scale.hpp"

namespace fwsr {

namespace {

class KernelOfFew final : public KernelMatrix {
 public:
  explicit KernelOfFew(FewPoints points)
      : points_(std::move(points)),
        scale_{.unit = points_.facts.unit,
               .eta = points_.facts.eta,
               .rms_norm = points_.facts.rms_norm} {}
  KernelOfFew(FewPoints points, const Kernel& kernel, double eta, bool eta_relative)
      : points_(std::move(points)),
        kernel_(kernel),
        tiles_{.eta = eta, .eta_relative = eta_relative},
        scale_(scale_of_kernel(1, 1, eta, eta_relative)) {}

  Index size() const override { return points_.facts.size; }
  double unit() const override { return scale_.unit; }
  double rms_norm() const override { return scale_.rms_norm; }
  double eta() const override { return scale_.eta; }
  bool single() const override { return false; }

  double diagonal(Index i, Eta eta) const override {
    return diagonals(std::span(&i, 1), eta).front();
  }

  std::vector<double> diagonals(std::span<const Index> points, Eta eta) const override {
    const double extra = eta == Eta::included ? this->eta() * this->eta() : 0.0;
    if (formula_of(kernel_.type).of_distances())
      return std::vector<double>(points.size(), scale_.unit * scale_.unit + extra);
    const std::lock_guard lock(mutex_);
    std::vector<Index> wanted;
    if (squares_.empty()) wanted = typical_places(size());
    for (const Index i : points)
      if (!squares_.contains(i)) wanted.push_back(i);
    if (!wanted.empty()) {
      const std::vector<double> squares = points_.squares(wanted);
      for (std::size_t w = 0; w < wanted.size(); ++w) squares_[wanted[w]] = squares[w];
    }
    std::vector<double> found;
    for (const Index i : points) found.push_back(squares_.at(i) + extra);
    return found;
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
    if (points_.products && left == right && formula_of(kernel_.type).linear)
      return products_of(left, wanted, eta);
    const std::unique_ptr<Points> few = points_.copies(wanted);
    return make_tiled_kernel(*few, kernel_, tiles_)->values(left, right, eta);
  }

  void scan(Index, Index, const VisitTile&) const override { refuse(); }
  Index row_block() const override { refuse(); }

 private:
  /// Of some points with themselves, from where they are: `places` of each among `wanted`.
  std::vector<double> products_of(const std::vector<Index>& places,
                                  const std::vector<Index>& wanted, Eta eta) const {
    const std::vector<double> all = points_.products(wanted);
    const double extra = eta == Eta::included ? this->eta() * this->eta() : 0.0;
    std::vector<double> found;
    for (const Index i : places)
      for (const Index j : places)
        found.push_back(all[static_cast<std::size_t>(i * std::ssize(wanted) + j)] + extra);
    return found;
  }
  [[noreturn]] static void refuse() {
    throw Error("the whole kernel of points that live somewhere else is not to be had");
  }

  FewPoints points_;
  Kernel kernel_ = {};  // linear
  TileOptions tiles_ = {};
  KernelScale scale_;
  mutable std::mutex mutex_;
  mutable std::map<Index, double> squares_;
};

}  // namespace

std::unique_ptr<KernelMatrix> make_kernel_of_few(FewPoints points) {
  return std::make_unique<KernelOfFew>(std::move(points));
}

std::unique_ptr<KernelMatrix> make_kernel_of_few(FewPoints points, const Kernel& kernel, double eta,
                                                 bool eta_relative) {
  return std::make_unique<KernelOfFew>(std::move(points), kernel, eta, eta_relative);
}

}  // namespace fwsr
