// A program of MPI that chooses from points which its ranks hold between them, however these fall on the ranks: rank 0
// compares with all of them in one place. tests/cli/mpi_test.py runs it.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/mpi/select.hpp"
#include "fwsr/solver/select.hpp"

namespace {

using fwsr::Index;

int rank = 0, ranks = 1, failures = 0;

void expect(bool right, const std::string& what) {
  if (right) return;
  ++failures;
  std::printf("rank %d: %s\n", rank, what.c_str());
}

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

template <class T>
std::vector<T> numbers(Index n, Index d) {
  fwsr::Rng random(11);
  std::vector<T> all;
  for (Index i = 0; i < n * d; ++i)
    all.push_back(static_cast<T>(static_cast<double>(1 + i % d) * random.normal()));
  return all;
}

/// Where the rows of a rank begin; `kind` 0: whole segments, 1: anywhere, 2: the last rank has all.
Index border(Index n, int r, int kind) {
  if (kind == 2) return r < ranks ? 0 : n;
  const Index even = n * r / ranks;
  return kind == 0 && r < ranks ? even / 1024 * 1024 : even;
}

template <class T>
void compare(Index n, Index d, const fwsr::SelectOptions& options) {
  const std::vector<T> all = numbers<T>(n, d);
  for (const int kind : {0, 1, 2}) {
    const Index first = border(n, rank, kind), last = border(n, rank + 1, kind);
    const fwsr::MatrixView<const T> own(all.data() + first * d, last - first, d);
    const fwsr::Selection found = fwsr::select(MPI_COMM_WORLD, own, options);
    const fwsr::Selection alone =
        fwsr::select(fwsr::MatrixView<const T>(all.data(), n, d), options);
    const std::string what = "rows of kind " + std::to_string(kind) + ": other ";
    expect(found.exemplars == alone.exemplars, what + "exemplars");
    expect(same(found.weights, alone.weights), what + "weights");
    expect(same(found.strength, alone.strength), what + "strength");
    if (rank > 0) continue;
    expect(found.certificate && same({found.certificate->f, found.certificate->gap},
                                     {alone.certificate->f, alone.certificate->gap}),
           what + "certificate");
  }
}

/// What is wrong on one rank, or with the options, is thrown on all.
void expect_thrown(const std::string& sentence, Index d, const fwsr::SelectOptions& options,
                   bool bad_number) {
  std::vector<double> own = numbers<double>(1024, d);
  if (bad_number && rank == ranks - 1) own[7] = std::strtod("nan", nullptr);
  try {
    fwsr::select(MPI_COMM_WORLD, fwsr::MatrixView<const double>(own.data(), 1024, d), options);
    expect(false, "nothing was thrown: " + sentence);
  } catch (const fwsr::Error& e) {
    expect(std::string(e.what()).find(sentence) != std::string::npos, e.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  compare<float>(4500, 6, {.exemplars = 5, .threads = 1});
  compare<float>(5200, 40, {.exemplars = 4, .eta = 0.5, .eta_relative = true, .threads = 1});
  compare<double>(4500, 5,
                  {.exemplars = 5,
                   .kernel = {.type = fwsr::KernelType::rbf},
                   .rank = 30,
                   .refine = fwsr::Refine::middle,
                   .threads = 1});
  expect_thrown("has NaN in feature 1", 3, {.exemplars = 2, .threads = 1}, true);
  compare<double>(4500, 5, {.exemplars = 9, .fill = true, .max_iterations = 3, .threads = 1});
  expect_thrown("leave lambda and rho out", 3,
                {.exemplars = 2, .lambda = 1.0, .rho = 1.0, .threads = 1}, false);
  if (ranks > 1)
    expect_thrown("of 4 features", rank == ranks - 1 ? 4 : 3, {.exemplars = 2, .threads = 1},
                  false);
  MPI_Finalize();
  if (rank == 0 && failures == 0) std::puts("all the same");
  return failures > 0 ? 1 : 0;
}
