#include "fwsr/methods/spectral.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/block_lanczos.hpp"
#include "fwsr/methods/kmeans_lloyd.hpp"
#include "fwsr/methods/kmeans_points.hpp"

namespace fwsr {

namespace {

/// D^-1/2 W D^-1/2 by rows.
struct Graph {
  std::vector<Index> starts, columns;
  std::vector<double> values;

  explicit Graph(const SparseCodes& codes) : starts(at(codes.size()) + 1) {
    const Index n = codes.size();
    for (Index i = 0; i < n; ++i)
      for (const SparseCodes::Entry& e : codes.columns[at(i)])
        ++starts[at(i) + 1], ++starts[at(e.row) + 1];
    for (Index i = 0; i < n; ++i) starts[at(i) + 1] += starts[at(i)];
    columns.resize(at(starts.back()));
    values.resize(at(starts.back()));
    std::vector<Index> next(starts.begin(), starts.end() - 1);
    std::vector<double> degrees(at(n));
    for (Index i = 0; i < n; ++i) {
      double most = 0;
      for (const SparseCodes::Entry& e : codes.columns[at(i)])
        most = std::max(most, std::abs(e.value));
      for (const SparseCodes::Entry& e : codes.columns[at(i)]) {
        const double w = std::abs(e.value) / most;
        for (const auto& [from, to] : {std::pair{i, e.row}, std::pair{e.row, i}}) {
          columns[at(next[at(from)])] = to;
          values[at(next[at(from)]++)] = w;
          degrees[at(from)] += w;
        }
      }
    }
    for (Index i = 0; i < n; ++i)
      for (Index e = starts[at(i)]; e < starts[at(i) + 1]; ++e)
        values[at(e)] /= std::sqrt(degrees[at(i)] * degrees[at(columns[at(e)])]);
  }

  /// out = M x for rows of n numbers.
  void apply(const double* x, Index rows, double* out, int threads) const {
    const Index n = static_cast<Index>(starts.size()) - 1;
    for_blocks(threads_for(threads, static_cast<double>(rows) * static_cast<double>(values.size())),
               n, [&](Index, Index first, Index last) {
                 for (Index r = 0; r < rows; ++r)
                   for (Index i = first; i < last; ++i) {
                     double sum = 0;
                     for (Index e = starts[at(i)]; e < starts[at(i) + 1]; ++e)
                       sum += values[at(e)] * x[r * n + columns[at(e)]];
                     out[r * n + i] = sum;
                   }
               });
  }
};

/// For every point the part of the graph that it is in, in the order in which points meet them.
std::vector<Index> parts_of(const Graph& graph) {
  const Index n = static_cast<Index>(graph.starts.size()) - 1;
  std::vector<Index> part(at(n), -1), open;
  Index count = 0;
  for (Index i = 0; i < n; ++i) {
    if (part[at(i)] >= 0) continue;
    part[at(i)] = count;
    open = {i};
    while (!open.empty()) {
      const Index from = open.back();
      open.pop_back();
      for (Index e = graph.starts[at(from)]; e < graph.starts[at(from) + 1]; ++e)
        if (Index& to = part[at(graph.columns[at(e)])]; to < 0)
          to = count, open.push_back(graph.columns[at(e)]);
    }
    ++count;
  }
  return part;
}

/// Parts as clusters where there are at least as many: the largest ones, and every further part to the cluster that is
/// smallest so far.
std::vector<Index> cluster_parts(std::vector<Index> part, Index parts, Index count) {
  std::vector<Index> sizes(at(parts)), order(at(parts)), to(at(parts)), filled(at(count));
  for (const Index p : part) ++sizes[at(p)];
  for (Index p = 0; p < parts; ++p) order[at(p)] = p;
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return sizes[at(a)] > sizes[at(b)]; });
  for (const Index p : order) {
    to[at(p)] = std::min_element(filled.begin(), filled.end()) - filled.begin();
    filled[at(to[at(p)])] += sizes[at(p)];
  }
  for (Index& p : part) p = to[at(p)];
  return part;
}

/// The coordinates of every point, of norm 1 unless they are 0: n x count.
std::vector<double> embedding(const std::vector<double>& vectors, Index n) {
  const Index count = static_cast<Index>(vectors.size()) / n;
  std::vector<double> rows(vectors.size());
  for (Index i = 0; i < n; ++i) {
    double square = 0;
    for (Index r = 0; r < count; ++r) square += std::pow(vectors[at(r * n + i)], 2);
    for (Index r = 0; r < count && square > 0; ++r)
      rows[at(i * count + r)] = vectors[at(r * n + i)] / std::sqrt(square);
  }
  return rows;
}

/// The best of some runs of k-means.
std::vector<Index> cluster_rows(const std::vector<double>& rows, Index n, Index count, int threads,
                                const KeepGoing& keep_going) {
  constexpr int restarts = 20;
  const Index d = static_cast<Index>(rows.size()) / n;
  const Points points(MatrixView<const double>{rows.data(), n, d, d}, {}, {.center = Center::none},
                      threads);
  const Task task{.points = &points,
                  .exemplars = count,
                  .settings = Settings({{"max_iterations", Index{300}}, {"tolerance", 1e-6}}),
                  .threads = threads,
                  .keep_going = keep_going};
  const kmeans::Moved moved(task);
  const kmeans::DenseSource<double> source(moved);
  kmeans::Lloyd<kmeans::DenseSource<double>> lloyd(source);
  Rng rng(0);
  double least = 0;
  std::vector<Index> best;
  for (int r = 0; r < restarts; ++r) {
    Rng own = rng.split(static_cast<std::uint64_t>(r));
    const kmeans::Clusters found = lloyd.run(own);
    if (!best.empty() && found.inertia >= least * (1 - rough_width)) continue;
    least = found.inertia;
    best = lloyd.labels();
  }
  return best;
}

std::vector<Index> cluster_vectors(const Graph& graph, Index n, Index count, int threads,
                                   const KeepGoing& keep_going) {
  const std::vector<double> vectors = leading_vectors(
      [&](const double* x, Index rows, double* out) { graph.apply(x, rows, out, threads); }, n,
      count, keep_going);
  return cluster_rows(embedding(vectors, n), n, count, threads, keep_going);
}

}  // namespace

std::vector<Index> spectral_clusters(const SparseCodes& codes, Index count, int threads,
                                     const KeepGoing& keep_going) {
  const Index n = codes.size();
  const Graph graph(codes);
  std::vector<Index> labels = parts_of(graph);
  const Index parts = 1 + *std::max_element(labels.begin(), labels.end());
  if (parts >= count)  // as many eigenvalues are 1, and which of their vectors are found is chance
    labels = cluster_parts(std::move(labels), parts, count);
  else
    labels = cluster_vectors(graph, n, count, threads, keep_going);
  std::vector<Index> number(at(count), -1);
  Index met = 0;
  for (Index& label : labels) {
    if (number[at(label)] < 0) number[at(label)] = met++;
    label = number[at(label)];
  }
  return labels;
}

double spectral_bytes(double n, double clusters, double nonzeros) {
  return 8 * n * (4 * nonzeros + leading_vectors_held(clusters) + 3 * clusters + 12);
}

double spectral_flops(double n, double clusters, double nonzeros) {
  const double held = leading_vectors_held(clusters), rounds = 12;
  constexpr double measured = 5;  // how much slower these are than products of large matrices
  return measured * (rounds * n * held * (4 * held + 80 * nonzeros) +
                     20 * n * clusters * (30 * 2 * clusters + 400));
}

}  // namespace fwsr
