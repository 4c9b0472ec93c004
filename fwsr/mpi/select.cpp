#include "fwsr/mpi/select.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/check_view.hpp"
#include "fwsr/mpi/rank_shard.hpp"
#include "fwsr/mpi/ranks.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/sharded_points.hpp"

namespace fwsr {

namespace mpi {

namespace {

/// What the ranks hold, and how it is cut where whole segments are meant.
struct Layout {
  std::vector<Index> given;  // first rows, rank by rank, and the end
  std::vector<Index> cut;
};

/// The segments that begin on a rank are its.
Layout layout_of(const std::vector<Index>& sizes) {
  Layout all{.given = {0}, .cut = {}};
  for (const Index size : sizes) all.given.push_back(all.given.back() + size);
  const Index n = all.given.back(), segment = segment_size(n);
  for (const Index first : all.given)
    all.cut.push_back(std::min(n, block_count(first, segment) * segment));
  return all;
}

struct About {
  PointsShape shape;
  std::vector<Index> sizes;
  Preprocessing prep;
  int threads = 0;
  RankDevice device = {};
};
template <class A>
void fields(A& a, About& v) {
  a(v.shape.size, v.shape.features, v.shape.sparse, v.shape.single, v.sizes, v.prep, v.threads,
    v.device);
}

struct RowCount {
  Index rows = 0, cols = 0;
  bool sparse = false, single = false;
};
template <class A>
void fields(A& a, RowCount& v) {
  a(v.rows, v.cols, v.sparse, v.single);
}

/// Rows in memory of their own.
struct OwnRows {
  std::shared_ptr<const void> keep;
  PointsView view;
};

/// Rank r's rows as they are cut: those it was given, and some of the next ranks'; others go to those before it.
/// They are told to use(numbers, rows, columns).
template <class T, class Use>
std::shared_ptr<const void> exchange_rows(const MatrixView<const T>& v, const Layout& all,
                                          std::size_t r, MPI_Comm comm, const Use& use) {
  const auto numbers = std::make_shared<std::vector<T>>(at((all.cut[r + 1] - all.cut[r]) * v.cols));
  const auto place_of = [&](Index i) { return numbers->data() + (i - all.cut[r]) * v.cols; };
  const auto copy = [&](Index first, Index last, T* to) {
    for (Index i = first; i < last; ++i, to += v.cols)
      std::copy_n(v.data + (i - all.given[r]) * v.stride, v.cols, to);
  };
  // Rows that are given to rank s and cut to rank t, at most 2^27 numbers at a time: MPI counts bytes in int.
  const auto each = [&](std::size_t s, std::size_t t, auto&& work) {
    const Index first = std::max(all.given[s], all.cut[t]),
                last = std::min(all.given[s + 1], all.cut[t + 1]);
    const Index at_once = std::max<Index>(1, (Index{1} << 27) / std::max<Index>(1, v.cols));
    for (Index i = first; i < last; i += at_once) work(i, std::min(last, i + at_once));
  };
  const auto bytes = [&](Index count) {
    return static_cast<int>(count * v.cols * static_cast<Index>(sizeof(T)));
  };
  std::vector<MPI_Request> requests;
  std::vector<std::vector<T>> on_their_way;
  constexpr int tag = 2;
  for (std::size_t other = 0; other + 1 < all.given.size(); ++other) {
    if (other == r) {
      each(r, r, [&](Index first, Index last) { copy(first, last, place_of(first)); });
      continue;
    }
    each(r, other, [&](Index first, Index last) {
      on_their_way.emplace_back(at((last - first) * v.cols));
      copy(first, last, on_their_way.back().data());
      MPI_Isend(on_their_way.back().data(), bytes(last - first), MPI_BYTE, static_cast<int>(other),
                tag, comm, &requests.emplace_back());
    });
    each(other, r, [&](Index first, Index last) {
      MPI_Irecv(place_of(first), bytes(last - first), MPI_BYTE, static_cast<int>(other), tag, comm,
                &requests.emplace_back());
    });
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  use(numbers->data(), all.cut[r + 1] - all.cut[r], v.cols);
  return numbers;
}
template <class T>
OwnRows exchange_wide_rows(const MatrixView<const T>& v, const Layout& all, std::size_t r,
                           MPI_Comm comm) {
  OwnRows own;
  own.keep = exchange_rows(v, all, r, comm, [&](const T* numbers, Index rows, Index cols) {
    own.view = MatrixView<const T>(numbers, rows, cols);
  });
  return own;
}

/// A rank's points in whole segments: those given where they are, else copies.
OwnRows in_segments(const PointsView& given, const Layout& all, int rank, MPI_Comm comm) {
  const auto r = static_cast<std::size_t>(rank);
  if (all.cut == all.given) return {.keep = {}, .view = given};  // on every rank alike
  if (const auto* single = std::get_if<MatrixView<const float>>(&given))
    return exchange_wide_rows(*single, all, r, comm);
  if (const auto* wide = std::get_if<MatrixView<const double>>(&given))
    return exchange_wide_rows(*wide, all, r, comm);
  if (const auto* narrow = std::get_if<NarrowView>(&given)) {
    const Index size = bytes_of(narrow->number);  // as rows of bytes
    const MatrixView<const std::byte> bytes(static_cast<const std::byte*>(narrow->numbers),
                                            narrow->rows, narrow->cols * size,
                                            narrow->stride * size);
    NarrowView own = *narrow;
    std::shared_ptr<const void> keep =
        exchange_rows(bytes, all, r, comm, [&](const std::byte* numbers, Index rows, Index) {
          own.numbers = numbers, own.rows = rows, own.stride = own.cols;
        });
    return {.keep = std::move(keep), .view = own};
  }
  throw Error(
      fmt::format("sparse and streamed points must be given in whole segments, {} rows each: give "
                  "every rank a multiple of that, or dense points",
                  segment_size(all.given.back())));
}

RowCount count_of(const PointsView& points) {
  return {.rows = rows_of(points),
          .cols = cols_of(points),
          .sparse = is_sparse(points),
          .single = is_single(points)};
}

/// On the leader: what all hold. Ranks without rows may be of any kind.
About gathered(const std::vector<Bytes>& counts, const SelectOptions& options) {
  About all{.shape = {},
            .sizes = {},
            .prep = preprocessing_of(options),
            .threads = options.threads,
            .device = device_of(options)};
  for (const Bytes& bytes : counts) {
    RowCount own;
    BytesReader reader(bytes);
    reader(own);
    const bool first = all.shape.size == 0;
    if (own.rows > 0 && first)
      all.shape = {.size = 0, .features = own.cols, .sparse = own.sparse, .single = own.single};
    if (own.rows > 0 && (own.cols != all.shape.features || own.sparse != all.shape.sparse ||
                         own.single != all.shape.single))
      throw Error(fmt::format(
          "rank {} has points of {} features and another rank of {}, or of another kind; all "
          "ranks must have the same",
          all.sizes.size(), own.cols, all.shape.features));
    all.shape.size += own.rows;
    all.sizes.push_back(own.rows);
  }
  return all;
}

/// No rows of the kind that others have.
PointsView none_like(const PointsShape& shape) {
  static const std::int64_t start = 0;
  const Index d = shape.features;
  if (shape.sparse && shape.single)
    return CsrView<float, std::int64_t>{0, d, &start, nullptr, nullptr};
  if (shape.sparse) return CsrView<double, std::int64_t>{0, d, &start, nullptr, nullptr};
  if (shape.single) return MatrixView<const float>{nullptr, 0, d};
  return MatrixView<const double>{nullptr, 0, d};
}

/// What the others are told at the end.
struct Answer {
  std::vector<Index> exemplars;
  std::vector<double> weights, strength;
  Status status = Status::interrupted;
};
template <class A>
void fields(A& a, Answer& v) {
  a(v.exemplars, v.weights, v.strength, v.status);
}

}  // namespace

}  // namespace mpi

Selection select(MPI_Comm comm, const PointsView& points, const SelectOptions& options,
                 const Observer& observer) {
  using namespace mpi;
  const Communicator communicator(comm);
  OwnRows rows;
  Ranks ranks(communicator, [&](std::span<const std::byte> bytes) {
    About about;
    BytesReader reader(bytes);
    reader(about);
    const Layout layout = layout_of(about.sizes);
    const auto r = static_cast<std::size_t>(communicator.rank());
    rows = in_segments(rows_of(points) > 0 ? points : none_like(about.shape), layout,
                       communicator.rank(), communicator.handle());
    const int threads = about.threads > 0 ? about.threads : default_threads();
    return shard_of(communicator, about.device, rows.view, {}, about.prep,
                    Portion(layout.cut[r], layout.cut[r + 1] - layout.cut[r], about.shape.size),
                    layout.cut[r], threads);
  });
  BytesWriter own;
  RowCount count = count_of(points);
  own(count);
  const std::vector<Bytes> counts = communicator.gather(own.take());
  if (!communicator.leads()) {
    const Ranks::Ended ended = ranks.serve();
    if (ended.code != 0) throw Error(ended.message);
    Bytes bytes;
    communicator.broadcast(bytes);
    Answer answer;
    BytesReader reader(bytes);
    reader(answer);
    Selection selection;
    selection.exemplars = std::move(answer.exemplars);
    selection.weights = std::move(answer.weights);
    selection.strength = std::move(answer.strength);
    selection.status = answer.status;
    return selection;
  }
  Selection selection;
  try {
    About about = gathered(counts, options);
    plan_sharded(about.shape, options);  // refused before any work
    if (const auto why = not_on_cards(facts_of(points, threads_of(options)), options))
      throw OptionError(*why);
    BytesWriter writer;
    writer(about);
    ranks.open(writer.take());
    selection =
        select_sharded(std::make_shared<RemoteShards>(std::make_unique<RanksTransport>(ranks)),
                       about.shape, options, observer);
  } catch (const std::exception& e) {
    ranks.end(1, e.what());
    throw;
  }
  ranks.end(0);
  Answer answer{.exemplars = selection.exemplars,
                .weights = selection.weights,
                .strength = selection.strength,
                .status = selection.status};
  BytesWriter writer;
  writer(answer);
  Bytes bytes = writer.take();
  communicator.broadcast(bytes);
  return selection;
}

}  // namespace fwsr
