// What a card does: its rates (reads of its memory, matrix products in double), and runs beside what these allow. Points
// are made on the card. Prints one line of JSON for each measurement.
// usage: bench_card [case ...]
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "fwsr/cuda/device.hpp"
#include "fwsr/solver/select.hpp"

namespace {

using fwsr::Index;
using fwsr::cuda::check;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

/// Seconds of `work` on the card, the middle of some.
double seconds_of(const std::function<void()>& work, int repeats = 9) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "timing");
  check(cudaEventCreate(&end), "timing");
  std::vector<double> all;
  work();
  for (int r = 0; r < repeats; ++r) {
    check(cudaEventRecord(begin), "timing");
    work();
    check(cudaEventRecord(end), "timing");
    check(cudaEventSynchronize(end), "timing");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "timing");
    all.push_back(ms * 1e-3);
  }
  return median(all);
}

__global__ void read_all(const float4* x, Index n, float* out) {
  float sum = 0;
  const Index round = Index{gridDim.x} * blockDim.x;
  Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i + 3 * round < n; i += 4 * round) {
    const float4 a = x[i], b = x[i + round], c = x[i + 2 * round], d = x[i + 3 * round];
    sum += a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w + c.x + c.y + c.z + c.w + d.x + d.y + d.z +
           d.w;
  }
  for (; i < n; i += round) sum += x[i].x + x[i].y + x[i].z + x[i].w;
  if (sum == 1.2345f) *out = sum;
}

__device__ unsigned hash(unsigned long long v) {
  v ^= v >> 33, v *= 0xff51afd7ed558ccdull, v ^= v >> 33, v *= 0xc4ceb9fe1a85ec53ull, v ^= v >> 33;
  return static_cast<unsigned>(v);
}
/// Nearly normal numbers, features of falling size, around one of 64 centres.
template <class T>
__global__ void make_points(T* x, Index n, Index d, float times = 1) {
  for (Index at = Index{blockIdx.x} * blockDim.x + threadIdx.x; at < n * d;
       at += Index{gridDim.x} * blockDim.x) {
    const Index i = at / d, l = at % d;
    float sum = -6;
    for (int q = 0; q < 12; ++q) sum += static_cast<float>(hash(at * 12ull + q)) * 0x1p-32f;
    float centre = -6;
    for (int q = 0; q < 12; ++q)
      centre += static_cast<float>(hash((hash(i) % 64) * 1000003ull + l * 12 + q + 77)) * 0x1p-32f;
    x[at] = static_cast<T>(times * (sum + centre) / (1.0f + 0.02f * static_cast<float>(l)));
  }
}

double bandwidth = 0, product_rate = 0;

void rates() {
  const Index bytes = Index{8} << 30;
  float4* x = nullptr;
  float* out = nullptr;
  check(cudaMalloc(&x, bytes), "rates"), check(cudaMalloc(&out, 4), "rates");
  check(cudaMemset(x, 1, bytes), "rates");
  for (const int blocks : {132 * 4, 132 * 8, 132 * 16, 132 * 32})
    bandwidth = std::max(bandwidth, static_cast<double>(bytes) / seconds_of([&] {
                                      read_all<<<blocks, 512>>>(x, bytes / 16, out);
                                    }));
  cublasHandle_t blas;
  cublasCreate(&blas);
  const int m = 8192;
  auto* a = reinterpret_cast<double*>(x);
  make_points<double><<<1024, 256>>>(a, m, 3 * m);
  const double one = 1, zero = 0;
  product_rate = 2.0 * m * m * m /
                 seconds_of(
                     [&] {
                       cublasDgemm(blas, CUBLAS_OP_T, CUBLAS_OP_N, m, m, m, &one, a, m, a + m * m,
                                   m, &zero, a + 2 * m * m, m);
                     },
                     5);
  cublasDestroy(blas);
  cudaFree(x), cudaFree(out);
  std::printf(
      "{\"case\": \"rates\", \"read_bytes_per_second\": %.4g, \"double_products_per_second\": "
      "%.4g}\n",
      bandwidth, product_rate);
  std::fflush(stdout);
}

template <class T>
void run(const char* name, Index n, Index d, Index k, fwsr::SelectOptions o, int repeats) {
  T* x = nullptr;
  check(cudaMalloc(&x, static_cast<std::size_t>(n * d) * sizeof(T)), "making points");
  make_points<T><<<4096, 256>>>(x, n, d);
  check(cudaDeviceSynchronize(), "making points");
  fwsr::DeviceView view{.data = x, .rows = n, .cols = d, .stride = d};
  view.number = sizeof(T) == 8              ? fwsr::DeviceNumber::float64
                : sizeof(T) == 4            ? fwsr::DeviceNumber::float32
                : std::is_same_v<T, __half> ? fwsr::DeviceNumber::float16
                                            : fwsr::DeviceNumber::bfloat16;
  o.exemplars = k;
  std::vector<double> setup, steps, exchange, certificate, all;
  std::size_t taken = 0;
  double error = 0;
  Index rounds = 0;
  unsigned long long picks = 1469598103934665603ull;
  for (int r = 0; r <= repeats; ++r) {
    const double start = now();
    const fwsr::Selection s = fwsr::select(view, o);
    if (r == 0 && repeats > 0) continue;
    all.push_back(now() - start);
    setup.push_back(s.seconds.setup), steps.push_back(s.seconds.steps);
    exchange.push_back(s.seconds.exchange), certificate.push_back(s.seconds.certificate);
    taken = s.trace.size();
    if (s.refinement) rounds = s.refinement->rounds;
    if (s.certificate) error = s.certificate->reconstruction_error;
    picks = 1469598103934665603ull;
    for (const Index e : s.exemplars)
      picks = (picks ^ static_cast<unsigned long long>(e)) * 1099511628211ull;
  }
  const double step = median(steps) / static_cast<double>(taken);
  const double floor =
      static_cast<double>(n) * (static_cast<double>(d) * sizeof(T) + 40) / bandwidth;
  const double products =
      3.0 * static_cast<double>(n) * static_cast<double>(d) * static_cast<double>(d) / product_rate;
  std::printf(
      "{\"case\": \"%s\", \"n\": %td, \"d\": %td, \"k\": %td, \"bytes_each\": %zu, \"steps\": %zu, "
      "\"step\": %.4g, "
      "\"floor\": %.4g, \"step_over_floor\": %.3f, \"setup\": %.4g, \"setup_floor\": %.4g, "
      "\"all_steps\": %.4g, \"exchange\": %.4g, \"visits\": %td, "
      "\"certificate\": %.4g, \"all\": %.4g, \"error\": %.6g, \"picks\": \"%016llx\"}\n",
      name, n, d, k, sizeof(T), taken, step, floor, step / floor, median(setup), products,
      median(steps), median(exchange), rounds, median(certificate), median(all), error, picks);
  std::fflush(stdout);
  cudaFree(x);
}

/// Points of one byte a number in the memory of the processor, and the same in float32: seconds of the whole call.
void bytes(Index n, Index d, Index k) {
  std::vector<std::int8_t> narrow(static_cast<std::size_t>(n * d));
  std::int8_t* x = nullptr;
  check(cudaMalloc(&x, narrow.size()), "making points");
  make_points<std::int8_t><<<4096, 256>>>(x, n, d, 20);
  check(cudaMemcpy(narrow.data(), x, narrow.size(), cudaMemcpyDeviceToHost), "making points");
  cudaFree(x);
  const std::vector<float> wide(narrow.begin(), narrow.end());
  const fwsr::NarrowView few{narrow.data(), fwsr::NarrowNumber::int8, n, d, d};
  const fwsr::MatrixView<const float> many{wide.data(), n, d};
  fwsr::SelectOptions o{.exemplars = k};
  o.device = {.kind = fwsr::DeviceChoice::Kind::cuda};
  std::vector<Index> picks;
  for (const fwsr::PointsView view : {fwsr::PointsView(few), fwsr::PointsView(many)}) {
    std::vector<double> all, steps;
    fwsr::Selection s;
    for (int r = 0; r <= 3; ++r) {
      const double start = now();
      s = fwsr::select(view, o);
      if (r > 0) all.push_back(now() - start), steps.push_back(s.seconds.steps);
    }
    if (picks.empty()) picks = s.exemplars;
    std::printf(
        "{\"case\": \"bytes\", \"n\": %td, \"d\": %td, \"k\": %td, \"bytes_each\": %td, "
        "\"step\": %.4g, \"all\": %.4g, \"same_picks\": %d}\n",
        n, d, k, fwsr::number_bytes(view), median(steps) / static_cast<double>(s.trace.size()),
        median(all), static_cast<int>(picks == s.exemplars));
    std::fflush(stdout);
  }
}

/// Points in the memory of the processor, some exemplars of every class: seconds of the whole call.
void classes(Index n, Index d, Index count, Index each) {
  std::vector<float> points(static_cast<std::size_t>(n * d));
  float* x = nullptr;
  check(cudaMalloc(&x, points.size() * sizeof(float)), "making points");
  make_points<float><<<4096, 256>>>(x, n, d);
  check(cudaMemcpy(points.data(), x, points.size() * sizeof(float), cudaMemcpyDeviceToHost),
        "making points");
  cudaFree(x);
  std::vector<std::string> names;
  for (Index i = 0; i < n; ++i) names.push_back(std::to_string(i * 7 % count));
  const fwsr::Labels labels(names);
  const fwsr::MatrixView<const float> view{points.data(), n, d};
  const fwsr::ClassCounts counts{.kind = fwsr::ClassCounts::Kind::each, .number = each};
  for (const bool card : {true, false}) {
    fwsr::SelectOptions o;
    if (card) o.device = {.kind = fwsr::DeviceChoice::Kind::cuda};
    std::vector<double> all;
    for (int r = 0; r <= 5; ++r) {
      const double start = now();
      const auto parts = fwsr::select_per_class(view, labels, counts, o);
      if (r > 0) all.push_back(now() - start);
    }
    std::printf(
        "{\"case\": \"classes\", \"on\": \"%s\", \"n\": %td, \"d\": %td, \"classes\": %td, \"k\": "
        "%td, "
        "\"all\": %.4g}\n",
        card ? "card" : "processor", n, d, count, each, median(all));
    std::fflush(stdout);
  }
}

/// Points in the memory of the processor that do not fit what may be taken of the card: reads of all of them, at the rate
/// at which the card copies from memory that is held in place.
void larger(Index n, Index d, Index k, Index memory) {
  std::vector<float> points(static_cast<std::size_t>(n * d));
  constexpr Index part = 1 << 20;
  float* x = nullptr;
  check(cudaMalloc(&x, static_cast<std::size_t>(part * d) * sizeof(float)), "making points");
  make_points<float><<<4096, 256>>>(x, part, d);
  for (Index first = 0; first < n; first += part) {
    const auto count = static_cast<std::size_t>(std::min(part, n - first) * d);
    check(cudaMemcpy(points.data() + first * d, x, count * sizeof(float), cudaMemcpyDeviceToHost),
          "making points");
    for (std::size_t i = 0; i < count; i += 17)  // the parts differ
      points[static_cast<std::size_t>(first * d) + i] += 1e-7f * static_cast<float>(first);
  }
  constexpr std::size_t sample = std::size_t{2} << 30;
  void *pinned = nullptr, *there = nullptr;
  check(cudaMallocHost(&pinned, sample), "measuring copies");
  check(cudaMalloc(&there, sample), "measuring copies");
  std::memset(pinned, 1, sample);
  double rate = 0;
  for (int r = 0; r < 4; ++r) {
    const double start = now();
    check(cudaMemcpy(there, pinned, sample, cudaMemcpyHostToDevice), "measuring copies");
    rate = std::max(rate, static_cast<double>(sample) / (now() - start));
  }
  cudaFreeHost(pinned), cudaFree(there), cudaFree(x);
  fwsr::SelectOptions o{.exemplars = k};
  o.device = {.kind = fwsr::DeviceChoice::Kind::cuda};
  o.device_memory = memory;
  const double start = now();
  const fwsr::Selection s = fwsr::select(fwsr::MatrixView<const float>{points.data(), n, d}, o);
  const double all = now() - start, one = static_cast<double>(n * d) * 4 / rate;
  std::printf(
      "{\"case\": \"larger\", \"n\": %td, \"d\": %td, \"k\": %td, \"device_memory\": %td, "
      "\"bytes_per_second\": %.4g, \"one_read\": %.4g, \"steps\": %zu, \"step_over_read\": %.3f, "
      "\"setup\": "
      "%.4g, \"certificate\": %.4g, \"all\": %.4g, \"reads_host\": %d}\n",
      n, d, k, memory, rate, one, s.trace.size(),
      s.seconds.steps / static_cast<double>(s.trace.size()) / one, s.seconds.setup,
      s.seconds.certificate, all, static_cast<int>(s.plan.device_reads_host));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> wanted(argv + 1, argv + argc);
  const auto want = [&](const char* name) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  };
  try {
    rates();
    fwsr::SelectOptions o;
    if (want("step100k")) run<float>("step100k", 100'000, 128, 200, o, 5);
    if (want("step1m")) run<float>("step1m", 1'000'000, 128, 100, o, 5);
    if (want("wide1m")) run<float>("wide1m", 1'000'000, 768, 100, o, 3);
    if (want("step10m")) run<float>("step10m", 10'000'000, 128, 50, o, 2);
    if (want("double1m")) run<double>("double1m", 1'000'000, 128, 50, o, 2);
    if (want("k1000")) run<float>("k1000", 1'000'000, 768, 1000, o, 1);
    if (want("half1000")) run<__half>("half1000", 1'000'000, 768, 1000, o, 1);
    fwsr::SelectOptions exchange = o;
    exchange.refine = fwsr::Refine::exchange;
    if (want("exchange")) run<float>("exchange", 1'000'000, 64, 100, exchange, 1);
    fwsr::SelectOptions factor = exchange;
    factor.kernel.type = fwsr::KernelType::rbf;
    factor.rank = 512;
    if (want("factor")) run<float>("factor", 1'000'000, 64, 100, factor, 1);
    factor.kernel.width = {.times = 2, .quantile = 0.9};
    factor.refine = fwsr::Refine::middle;
    if (want("default")) run<float>("default", 1'000'000, 64, 100, factor, 1);
    if (want("larger")) larger(30'000'000, 128, 20, Index{4} << 30);
    if (want("bytes")) bytes(500'000, 784, 100);
    if (want("classes")) classes(253'523, 784, 62, 10);
  } catch (const std::exception& e) {
    std::printf("{\"case\": \"failed\", \"why\": \"%s\"}\n", e.what());
    return 1;
  }
}
