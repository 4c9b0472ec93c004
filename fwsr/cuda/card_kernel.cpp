// K in the memory of a card: all n x n entries, so that what is n^2 of a run by the representer form is done there, at the
// speed of that memory. Where entries in double do not fit they are computed anew, rows at a time, whenever they are asked
// for. Sums are in double, each in one order: the same bits from run to run.
#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/cuda/card_rows.hpp"
#include "fwsr/cuda/devices.hpp"
#include "fwsr/cuda/entries.hpp"
#include "fwsr/kernel/tile_matrix.hpp"
#include "fwsr/solver/on_card.hpp"

namespace fwsr {

namespace {

using namespace cuda;

/// The card is this thread's as long as this lives, and nobody else's.
class Turn {
 public:
  Turn(std::mutex& mutex, const Device& device) : lock_(mutex), own_(device.number()) {
    check(cudaGetDevice(&before_), "asking which card is in use");
    if (before_ != own_) check(cudaSetDevice(own_), "choosing the card");
  }
  ~Turn() {
    if (before_ != own_) cudaSetDevice(before_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::lock_guard<std::mutex> lock_;
  int own_, before_ = 0;
};

/// Rows of K in double that are worked on at a time: their number depends on n and on what may be used of the card.
Index rows_in_double(const Device& device, Index n) {
  constexpr Index bytes = Index{1} << 28;
  return std::clamp<Index>(std::min(bytes, device.memory() / 16) / (8 * n), 1, n);
}

/// use(first, last) for all rows, `at_once` at a time. One block is under way beside the one that is asked for, no more,
/// so that who stops a run is answered soon.
template <class Use>
void for_rows(const Device& device, Index n, Index at_once, const KeepGoing& keep_going,
              Use&& use) {
  const Event done[2];
  for (Index first = 0, turn = 0; first < n; first += at_once, ++turn) {
    throw_if_cancelled(keep_going);
    use(first, std::min(n, first + at_once));
    if (!keep_going) continue;
    done[turn % 2].record(device.stream());
    if (turn > 0) done[(turn - 1) % 2].wait();
  }
}

/// T: the type of the entries.
template <class T>
class CardKernel : public KernelMatrix {
 public:
  CardKernel(const KernelMatrix& source, std::shared_ptr<Device> device, const HoldOnCard& how)
      : source_(source),
        device_(std::move(device)),
        keep_going_(how.keep_going),
        n_(source.size()) {
    for (Index i = 0; i < n_; ++i)
      diagonal_.push_back(static_cast<double>(static_cast<T>(source.diagonal(i))));
  }

  Index size() const override { return n_; }
  double unit() const override { return source_.unit(); }
  double eta() const override { return source_.eta(); }
  double rms_norm() const override { return source_.rms_norm(); }
  double entry_error() const override { return source_.entry_error(); }
  /// Entries of a matrix that was given in float32 are those that it has.
  bool single() const override { return source_.single(); }
  double diagonal(Index i, Eta eta) const override {
    return eta == Eta::included ? diagonal_[at(i)] : source_.diagonal(i, eta);
  }

  Index row_block() const override {
    constexpr Index bytes = 16 << 20, most = 128;
    return std::clamp<Index>(bytes / (8 * n_), 1, std::min(most, rows_at_once()));
  }
  void scan(Index first, Index last, const VisitTile& visit) const override {
    const std::vector<double> tile = copied(first, last);
    visit(0, n_, tile.data(), n_);
  }
  void column(Index j, std::span<double> out) const override {
    const std::vector<double> row = copied(j, j + 1);
    std::copy(row.begin(), row.end(), out.begin());
  }

  void multiply(std::span<const double> x, std::span<double> out, int threads) const override {
    multiply_many(x, 1, out, threads, keep_going_);
  }
  void multiply_many(std::span<const double> x, Index count, std::span<double> out, int,
                     const KeepGoing& keep_going) const override {
    const Turn turn(mutex_, *device_);
    const Array<double> from(*device_, x.first(at(count * n_)));
    Array<double> to(*device_, count * n_);
    for_rows(*device_, n_, rows_at_once(), keep_going, [&](Index first, Index last) {
      launch_products(*device_, rows(first, last), from.get(), count, to.get() + first, n_);
    });
    tell(to, out);
  }

  void row_squares(std::span<double> out, int) const override { squares({}, out); }
  void weighted_row_squares(const std::vector<double>& weights, std::span<double> out,
                            int) const override {
    squares(weights, out);
  }

  void sum_left(const Explained& e, const std::vector<double>& weights, const LeftSums& to, int,
                const KeepGoing& keep_going) const override {
    const Turn turn(mutex_, *device_);
    const auto put = [&](const double* numbers, Index count) {
      return Array<double>(*device_, std::span<const double>(numbers, at(count)));
    };
    const Array<double> u = put(e.u, e.m * n_),
                        v = e.v == e.u ? Array<double>() : put(e.v, e.m * n_);
    const double* const right = e.v == e.u ? u.get() : v.get();
    Array<double> theta;
    if (e.theta) {
      theta = Array<double>(*device_, e.m * e.m);
      for (Index b = 0; b < e.m; ++b) theta.put({e.theta + b * e.theta_stride, at(e.m)}, b * e.m);
    }
    const Array<double> weight(*device_, std::span<const double>(weights));
    const Index at_once = std::min(rows_at_once(), rows_in_double(*device_, n_));
    Array<double> left(*device_, at_once * n_), t(*device_, e.theta ? at_once * e.m : 0);
    Array<double> squares(*device_, n_), with_k(*device_, to.with_k.empty() ? 0 : n_);
    for_rows(*device_, n_, at_once, keep_going, [&](Index first, Index last) {
      const EntryRows<T> k = rows(first, last);
      launch_widen(*device_, k, left.get());
      const Matrix own{u.get() + first, e.m, k.rows, n_};  // U of these points, column by column
      if (e.theta && e.m > 0)
        device_->blas().multiply({.left = own,
                                  .left_transposed = true,
                                  .right = {theta.get(), e.m, e.m, e.m},
                                  .out = t.get(),
                                  .out_stride = e.m});
      if (e.m > 0)
        device_->blas().multiply({.left = e.theta ? Matrix{t.get(), k.rows, e.m, e.m} : own,
                                  .left_transposed = !e.theta,
                                  .right = {right, e.m, n_, n_},
                                  .a = -1,
                                  .b = 1,
                                  .out = left.get(),
                                  .out_stride = n_});
      launch_left_sums(*device_, k, left.get(), weight.get(), squares.get() + first,
                       with_k.empty() ? nullptr : with_k.get() + first);
    });
    tell(squares, to.squares);
    if (!to.with_k.empty()) tell(with_k, to.with_k);
  }

 protected:
  /// On the card, good until the next are asked for.
  virtual EntryRows<T> rows(Index first, Index last) const = 0;
  /// So many may be asked for.
  virtual Index rows_at_once() const = 0;

  Device& device() const { return *device_; }
  const KernelMatrix& source() const { return source_; }
  const KeepGoing& keep_going() const { return keep_going_; }
  std::mutex& mutex() const { return mutex_; }

 private:
  void tell(const Array<double>& from, std::span<double> to) const {
    const std::vector<double> told = from.get_all();
    std::copy(told.begin(), told.end(), to.begin());
  }

  std::vector<double> copied(Index first, Index last) const {
    std::vector<T> entries(at((last - first) * n_));
    {
      const Turn turn(mutex_, *device_);
      check(cudaMemcpyAsync(entries.data(), rows(first, last).k, entries.size() * sizeof(T),
                            cudaMemcpyDeviceToHost, device_->stream()),
            "copying from the card");
      device_->wait();
    }
    return {entries.begin(), entries.end()};
  }

  void squares(const std::vector<double>& weights, std::span<double> out) const {
    const Turn turn(mutex_, *device_);
    const Array<double> weight(*device_, std::span<const double>(weights));
    Array<double> to(*device_, n_);
    for_rows(*device_, n_, rows_at_once(), keep_going_, [&](Index first, Index last) {
      launch_squares(*device_, rows(first, last), weight.get(), to.get() + first);
    });
    tell(to, out);
  }

  const KernelMatrix& source_;
  std::shared_ptr<Device> device_;  // after all that is on it
  KeepGoing keep_going_;
  Index n_;
  std::vector<double> diagonal_;
  mutable std::mutex mutex_;
};

// ------------------------------------------------------------------------------------------------------- held there

template <class T>
class HeldOnCard final : public CardKernel<T> {
 public:
  HeldOnCard(const KernelMatrix& source, std::shared_ptr<Device> device, const HoldOnCard& how)
      : CardKernel<T>(source, std::move(device), how),
        entries_(this->device(), source.size() * source.size()) {
    const std::optional<EntryFormula> formula =
        how.points ? formula_on_card(how.type, *how.points, source) : std::nullopt;
    if (formula)
      compute({this->device(), *how.points, source, *formula, how.threads, how.keep_going});
    else if (const auto* tiles = dynamic_cast<const TileMatrix<T>*>(&source))
      copy_tiles(*tiles, how.threads);
    else
      copy_rows(how.threads);
    this->device().wait();
  }

  std::vector<double> values(std::span<const Index> rows, std::span<const Index> columns,
                             Eta eta) const override {
    // Without eta the entries come from their source: how good exemplars are should not depend on how K is held.
    if (eta == Eta::left_out) return this->source().values(rows, columns, eta);
    if (rows.empty() || columns.empty()) return {};
    const Turn turn(this->mutex(), this->device());
    const Array<Index> down(this->device(), rows), across(this->device(), columns);
    Array<double> out(this->device(), std::ssize(rows) * std::ssize(columns));
    launch_entries_at(this->device(), entries_.get(), this->size(),
                      {.rows = down.get(),
                       .columns = across.get(),
                       .row_count = std::ssize(rows),
                       .column_count = std::ssize(columns)},
                      out.get());
    return out.get_all();
  }

 private:
  EntryRows<T> rows(Index first, Index last) const override {
    return {.k = entries_.get() + first * this->size(), .rows = last - first, .n = this->size()};
  }
  Index rows_at_once() const override { return this->size(); }

  /// From the points, on and above the diagonal, and below it the same.
  void compute(const CardRows& points) {
    Device& device = this->device();
    const Index n = this->size(), at_once = rows_in_double(device, n);
    Array<double> values(device, at_once * n);
    for_rows(device, n, at_once, this->keep_going(), [&](Index first, Index last) {
      const EntryBlock block{.first = first, .rows = last - first, .column = first};
      points.measure(block, values.get());
      launch_entries_to(device, points.formula(), points.view(), block, values.get(),
                        entries_.get());
    });
    device.wait();
  }

  /// From the processor, which computes the tiles on and above the diagonal.
  void copy_tiles(const TileMatrix<T>& tiles, int threads) {
    const Tiling tiling{this->size()};
    Array<T> room(this->device(), tile_side * tile_side);
    for_tasks(threads, tiling.blocks(), [&](Index row) {
      tiles.tiles(row, row, tiling.blocks(), [&](Index column, const T* tile) {
        throw_if_cancelled(this->keep_going());
        const TilePlace place{.first_row = tiling.first(row),
                              .rows = tiling.size(row),
                              .first_column = tiling.first(column),
                              .columns = tiling.size(column),
                              .n = this->size()};
        const Turn turn(this->mutex(), this->device());
        room.put({tile, at(place.rows * place.columns)});
        launch_place(this->device(), place, room.get(), entries_.get());
      });
    });
  }

  /// As they are.
  void copy_rows(int threads) {
    const Index n = this->size();
    for_blocks(
        threads, n,
        [&](Index, Index first, Index last) {
          throw_if_cancelled(this->keep_going());
          std::vector<T> rows(at((last - first) * n));
          this->source().scan(
              first, last, [&](Index begin, Index end, const double* tile, Index stride) {
                for (Index i = 0; i < last - first; ++i)
                  for (Index l = begin; l < end; ++l)
                    rows[at(i * n + l)] = static_cast<T>(tile[i * stride + l - begin]);
              });
          const Turn turn(this->mutex(), this->device());
          entries_.put(rows, first * n);
        },
        this->source().row_block());
  }

  Array<T> entries_;  // n x n
};

// --------------------------------------------------------------------------------------------------- computed there

class ComputedOnCard final : public CardKernel<double> {
 public:
  ComputedOnCard(const KernelMatrix& source, std::shared_ptr<Device> device,
                 const EntryFormula& formula, const HoldOnCard& how)
      : CardKernel(source, std::move(device), how),
        points_(this->device(), *how.points, source, formula, how.threads, how.keep_going),
        at_once_(rows_in_double(this->device(), source.size())),
        room_(this->device(), at_once_ * source.size()) {}

  std::vector<double> values(std::span<const Index> rows, std::span<const Index> columns,
                             Eta eta) const override {
    return source().values(rows, columns, eta);
  }

 private:
  EntryRows<double> rows(Index first, Index last) const override {
    points_.entries(first, last - first, room_.get());
    return {.k = room_.get(), .rows = last - first, .n = size()};
  }
  Index rows_at_once() const override { return at_once_; }

  CardRows points_;
  Index at_once_;
  Array<double> room_;
};

}  // namespace

std::unique_ptr<KernelMatrix> hold_on_card(const KernelMatrix& source, const HoldOnCard& how) {
  const std::shared_ptr<Device> device = device_for(how.number, how.memory);
  if (how.single) return std::make_unique<HeldOnCard<float>>(source, device, how);
  const std::optional<EntryFormula> formula =
      how.or_computed && how.points ? formula_on_card(how.type, *how.points, source) : std::nullopt;
  if (!formula) return std::make_unique<HeldOnCard<double>>(source, device, how);
  try {
    return std::make_unique<HeldOnCard<double>>(source, device, how);
  } catch (const MemoryError&) {
    return std::make_unique<ComputedOnCard>(source, device, *formula, how);
  }
}

}  // namespace fwsr
