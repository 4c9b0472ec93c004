#include "bench/floors.hpp"

#include <cblas.h>
#include <fcntl.h>
#include <omp.h>
#include <unistd.h>
#include <zlib.h>

#if defined(FWSR_WITH_DEFLATE)
#include <libdeflate.h>
#endif

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>

#include "bench/exponentials.hpp"
#include "bench/memory_reads.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/linalg/blas.hpp"

namespace bench {

namespace {

// Of every way at least so many tries, and for at least so long. Their median counts, as it does for
// the times that are held against it.
constexpr int tries = 5;
constexpr double enough_seconds = 0.05;

volatile float sink;  // results nobody needs go here, so that they are computed

/// Calls work(thread) on all threads at once and gives the seconds until the last is done.
double seconds_of(int threads, const std::function<void(int)>& work) {
  const double start = now();
#pragma omp parallel num_threads(threads)
  work(omp_get_thread_num());
  return now() - start;
}

/// The better of `best` and what `work` reaches when it does `amount` in all.
void try_way(Rate& best, const std::string& way, double amount, int threads,
             const std::function<void(int)>& work) {
  work(0);  // first touch, and the library's own first call
  std::vector<double> taken;
  for (double spent = 0; taken.size() < tries || spent < enough_seconds; spent += taken.back())
    taken.push_back(seconds_of(threads, work));
  const auto middle = taken.begin() + static_cast<std::ptrdiff_t>(taken.size() / 2);
  std::nth_element(taken.begin(), middle, taken.end());
  const double seconds = *middle;
  if (amount / seconds > best.value) best = {amount / seconds, way};
}

template <class T>
std::vector<T> some_numbers(Index count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  fwsr::Rng rng(1);
  for (T& v : values) v = static_cast<T>(rng.uniform() - 0.5);
  return values;
}

void lower_gram(CBLAS_TRANSPOSE op, Index n, Index k, const float* a, Index stride, float* c) {
  cblas_ssyrk(CblasRowMajor, CblasLower, op, static_cast<blasint>(n), static_cast<blasint>(k), 1, a,
              static_cast<blasint>(stride), 0, c, static_cast<blasint>(n));
}
void lower_gram(CBLAS_TRANSPOSE op, Index n, Index k, const double* a, Index stride, double* c) {
  cblas_dsyrk(CblasRowMajor, CblasLower, op, static_cast<blasint>(n), static_cast<blasint>(k), 1, a,
              static_cast<blasint>(stride), 0, c, static_cast<blasint>(n));
}

/// The lower half of A^T A by products of square tiles: what BLAS calls SYRK, with GEMM's kernels.
template <class T>
void lower_gram_by_tiles(Index rows, Index d, Index tile, const T* a, T* c) {
  for (Index i = 0; i < d; i += tile)
    for (Index j = 0; j <= i; j += tile)
      fwsr::multiply(fwsr::Product<T>{.op_a = fwsr::Op::transpose,
                                      .m = std::min(tile, d - i),
                                      .n = std::min(tile, d - j),
                                      .k = rows,
                                      .left = a + i,
                                      .left_stride = d,
                                      .right = a + j,
                                      .right_stride = d,
                                      .out = c + i * d + j,
                                      .out_stride = d});
}

/// Blocks so that one try takes about a hundredth of a second.
Index blocks_for(double flops_of_block) {
  return std::max<Index>(1, static_cast<Index>(1e9 / flops_of_block));
}

}  // namespace

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Rate read_rate(const float* p, Index count, int threads) {
  Rate best;
  const Index part = count / threads;
  for (const Walk walk : {Walk{1, 0}, Walk{1, 2048}, Walk{2, 0}, Walk{2, 2048}, Walk{4, 0},
                          Walk{4, 1024}, Walk{8, 0}, Walk{8, 1024}})
    try_way(best,
            std::to_string(walk.streams) + " streams a thread" +
                (walk.ahead > 0 ? ", prefetch " + std::to_string(walk.ahead) + " bytes ahead" : ""),
            4.0 * static_cast<double>(part * threads), threads,
            [&](int t) { sink = read_all(p + t * part, part, walk); });
  return best;
}

template <class T>
Rate syrk_rate(Index d, int threads) {
  const fwsr::SerialBlas serial;
  Rate best;
  for (const Index rows : {512, 1024, 4096}) {
    const double flops =
        static_cast<double>(rows) * static_cast<double>(d) * static_cast<double>(d);
    const Index blocks = blocks_for(flops);
    const std::vector<T> a = some_numbers<T>(rows * d * threads);
    std::vector<T> c(static_cast<std::size_t>(d * d * threads));
    const auto run = [&](const std::string& way, const auto& gram) {
      try_way(best, way + ", blocks of " + std::to_string(rows) + " rows",
              flops * static_cast<double>(blocks * threads), threads, [&](int t) {
                for (Index b = 0; b < blocks; ++b)
                  gram(a.data() + t * rows * d, c.data() + t * d * d);
              });
    };
    run("syrk", [&](const T* x, T* out) { lower_gram(CblasTrans, d, rows, x, d, out); });
    for (const Index tile : {128, 256})
      if (tile < d)
        run("gemm tiles of " + std::to_string(tile),
            [&](const T* x, T* out) { lower_gram_by_tiles(rows, d, tile, x, out); });
  }
  return best;
}
template Rate syrk_rate<float>(Index, int);
template Rate syrk_rate<double>(Index, int);

template <class T>
Rate gemm_rate(Index d, int threads) {
  const fwsr::SerialBlas serial;
  Rate best;
  for (const Index rows : {256, 1024, 4096}) {
    const std::vector<T> a = some_numbers<T>(rows * d * threads);
    const std::vector<T> right = some_numbers<T>(d * std::max(d, rows));
    std::vector<T> out(static_cast<std::size_t>(rows * std::max(d, rows) * threads));
    const auto run = [&](const std::string& way, fwsr::Product<T> p) {
      const double flops =
          2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
      const Index blocks = blocks_for(flops);
      try_way(best, way, flops * static_cast<double>(blocks * threads), threads, [&](int t) {
        fwsr::Product<T> mine = p;
        mine.left = a.data() + t * rows * d;
        mine.out = out.data() + t * p.m * p.n;
        for (Index b = 0; b < blocks; ++b) fwsr::multiply(mine);
      });
    };
    const std::string shape = std::to_string(rows) + " x " + std::to_string(d);
    run(shape + " times square", {.m = rows,
                                  .n = d,
                                  .k = d,
                                  .left_stride = d,
                                  .right = right.data(),
                                  .right_stride = d,
                                  .out_stride = d});
    if (rows <= 1024)
      run(shape + " times transpose", {.op_b = fwsr::Op::transpose,
                                       .m = rows,
                                       .n = rows,
                                       .k = d,
                                       .left_stride = d,
                                       .right = right.data(),
                                       .right_stride = d,
                                       .out_stride = rows});
  }
  return best;
}
template Rate gemm_rate<float>(Index, int);
template Rate gemm_rate<double>(Index, int);

Rate small_gram_rate(const float* p, Index problems, Index n, Index d, int threads) {
  const fwsr::SerialBlas serial;
  Rate best;
  const Index part = problems / threads;
  const double flops = static_cast<double>(part * threads) * static_cast<double>(n) *
                       static_cast<double>(n) * static_cast<double>(d);
  std::vector<float> out(static_cast<std::size_t>(n * n * threads));
  const auto run = [&](const std::string& way, const auto& gram) {
    try_way(best, way, flops, threads, [&](int t) {
      for (Index b = t * part; b < (t + 1) * part; ++b) gram(p + b * n * d, out.data() + t * n * n);
    });
  };
  run("syrk", [&](const float* a, float* c) { lower_gram(CblasNoTrans, n, d, a, d, c); });
  run("gemm", [&](const float* a, float* c) {
    fwsr::multiply(fwsr::Product<float>{.op_b = fwsr::Op::transpose,
                                        .m = n,
                                        .n = n,
                                        .k = d,
                                        .left = a,
                                        .left_stride = d,
                                        .right = a,
                                        .right_stride = d,
                                        .out = c,
                                        .out_stride = n});
  });
  return best;
}

template <class T>
Rate exp_rate(int threads) {
  constexpr Index count = 16384;  // x and y together in the second-level cache
  constexpr int rounds = 500;
  std::vector<T> x = some_numbers<T>(count * threads);
  std::vector<T> y(x.size());
  for (T& v : x) v = (v - T(0.5)) * 20;  // -20 .. 0
  Rate best;
  const auto run = [&](const std::string& way, void (*function)(const T*, T*, Index)) {
    try_way(best, way, static_cast<double>(count) * rounds * threads, threads, [&](int t) {
      for (int r = 0; r < rounds; ++r) function(x.data() + t * count, y.data() + t * count, count);
    });
  };
  run("vector functions of the C library", library_exp);
  if constexpr (std::is_same_v<T, float>) run("polynomial", polynomial_exp);
  return best;
}
template Rate exp_rate<float>(int);
template Rate exp_rate<double>(int);

/// Inflating by a library that takes whole files, where it is there.
static void try_whole_file([[maybe_unused]] const std::vector<char>& packed,
                           [[maybe_unused]] double bytes, [[maybe_unused]] Rate& best) {
#if defined(FWSR_WITH_DEFLATE)
  std::vector<char> out(static_cast<std::size_t>(bytes));
  libdeflate_decompressor* const d = libdeflate_alloc_decompressor();
  for (int t = 0; d && t < tries; ++t) {
    std::size_t made = 0;
    const double start = now();
    const bool done = libdeflate_gzip_decompress(d, packed.data(), packed.size(), out.data(),
                                                 out.size(), &made) == LIBDEFLATE_SUCCESS;
    const double seconds = now() - start;
    if (done && bytes / seconds > best.value) best = {bytes / seconds, "libdeflate, 1 thread"};
  }
  libdeflate_free_decompressor(d);
#endif
}

Rate inflate_rate(const std::string& path, double* bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot be opened");
  std::vector<char> packed((std::istreambuf_iterator<char>(file)), {});
  std::vector<char> out(std::size_t{1} << 20);
  Rate best;
  for (int t = 0; t < tries; ++t) {
    z_stream stream{};
    if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
      throw std::runtime_error("zlib did not start");
    stream.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    const double start = now();
    int status = Z_OK;
    while (status == Z_OK) {
      stream.next_out = reinterpret_cast<Bytef*>(out.data());
      stream.avail_out = static_cast<uInt>(out.size());
      status = inflate(&stream, Z_NO_FLUSH);
    }
    const double seconds = now() - start;
    const auto total = static_cast<double>(stream.total_out);
    inflateEnd(&stream);
    if (status != Z_STREAM_END) throw std::runtime_error(path + ": not a whole gzip file");
    if (bytes) *bytes = total;
    if (total / seconds > best.value) best = {total / seconds, "zlib, 1 thread"};
    if (t + 1 == tries) try_whole_file(packed, total, best);
  }
  return best;
}

Rate pread_rate(const std::string& path, int threads) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::runtime_error(path + ": cannot be opened");
  const Index size = ::lseek(file, 0, SEEK_END);
  Rate best;
  for (const Index buffer : {Index{1} << 18, Index{1} << 20, Index{1} << 22}) {
    for (int team = 1; team <= threads; team = team < threads ? threads : threads + 1) {
      const Index part = size / team / buffer * buffer;
      if (part == 0) continue;
      std::vector<std::vector<char>> buffers(static_cast<std::size_t>(team),
                                             std::vector<char>(static_cast<std::size_t>(buffer)));
      bool whole = true;
      try_way(
          best,
          std::to_string(team) + " threads, buffers of " + std::to_string(buffer >> 10) + " KiB",
          static_cast<double>(part * team), team, [&](int t) {
            char* to = buffers[static_cast<std::size_t>(t)].data();
            for (Index at = t * part; at < (t + 1) * part; at += buffer)
              if (::pread(file, to, static_cast<std::size_t>(buffer), at) != buffer) whole = false;
          });
      if (!whole) throw std::runtime_error(path + ": ended early");
    }
  }
  ::close(file);
  return best;
}

std::vector<float> make_points(Index n, Index d, Index clusters, int threads) {
  std::vector<float> values(static_cast<std::size_t>(n * d));
  const std::vector<float> centres = some_numbers<float>(clusters * d);
#pragma omp parallel for num_threads(threads)
  for (Index i = 0; i < n; ++i) {
    fwsr::Rng rng(static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15u + 12345);
    const float* centre =
        centres.data() + static_cast<Index>(rng.below(static_cast<std::uint64_t>(clusters))) * d;
    float* row = values.data() + i * d;
    for (Index l = 0; l < d; ++l) {
      // The sum of four uniform numbers is near enough to a normal one, and cheap.
      const std::uint64_t bits = rng.next();
      const auto sum = static_cast<float>((bits & 0xFFFF) + (bits >> 16 & 0xFFFF) +
                                          (bits >> 32 & 0xFFFF) + (bits >> 48));
      row[l] = centre[l] + sum * (1.0f / 65536) - 2;
    }
  }
  return values;
}

}  // namespace bench
