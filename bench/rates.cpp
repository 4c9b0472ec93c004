// The rates of this machine as JSON: what every time of the suite is held against.
#include <sys/mman.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/floors.hpp"
#include "fwsr/linalg/blas.hpp"

namespace {

using bench::Index;
using bench::Rate;
using nlohmann::ordered_json;

/// Memory in huge pages where the system gives them, already touched.
struct Array {
  explicit Array(Index count, bool huge) {
    void* memory = nullptr;
    if (::posix_memalign(&memory, std::size_t{1} << 21, static_cast<std::size_t>(count) * 4) != 0)
      throw std::bad_alloc();
    values.reset(static_cast<float*>(memory));
    ::madvise(memory, static_cast<std::size_t>(count) * 4, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    std::fill_n(values.get(), count, 1.0f);
  }
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::unique_ptr<float, Free> values;
};

ordered_json as_json(const Rate& rate, const char* unit) {
  return {{"rate", rate.value}, {"unit", unit}, {"way", rate.way}};
}

/// Several sizes, in ordinary and in huge pages; the better of the two counts.
ordered_json reads(const std::vector<Index>& megabytes, int threads) {
  ordered_json result;
  for (const Index size : megabytes) {
    Rate best;
    for (const bool huge : {false, true}) {
      const Index count = size * 1'000'000 / 4;
      const Array array(count, huge);
      Rate rate = bench::read_rate(array.values.get(), count, threads);
      rate.way += huge ? ", huge pages" : ", ordinary pages";
      if (rate.value > best.value) best = rate;
    }
    result[std::to_string(size)] = as_json(best, "bytes/s");
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Measures what this machine can do; prints JSON."};
  std::vector<Index> sizes{512};
  std::vector<Index> features{784};
  std::vector<std::string> only{"read", "syrk32", "syrk64", "gemm32", "gemm64", "exp32", "exp64"};
  std::string packed, file;
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  app.add_option("--read", sizes, "sizes of arrays to read, in MB")->delimiter(',');
  app.add_option("--features", features, "d of the matrix products")->delimiter(',');
  app.add_option("--only", only, "read, syrk32, syrk64, gemm32, gemm64, exp32, exp64")
      ->delimiter(',');
  app.add_option("--gzip", packed, "file to inflate");
  app.add_option("--file", file, "file to pread, in the page cache");
  app.add_option("--threads", threads);
  CLI11_PARSE(app, argc, argv);

  try {
    ordered_json result{{"threads", threads}, {"blas", fwsr::blas_name()}};
    for (const std::string& name : only) {
      if (name == "read") result[name] = reads(sizes, threads);
      if (name == "exp32") result[name] = as_json(bench::exp_rate<float>(threads), "1/s");
      if (name == "exp64") result[name] = as_json(bench::exp_rate<double>(threads), "1/s");
      for (const Index d : features) {
        const std::string shape = std::to_string(d);
        if (name == "syrk32")
          result[name][shape] = as_json(bench::syrk_rate<float>(d, threads), "flop/s");
        if (name == "syrk64")
          result[name][shape] = as_json(bench::syrk_rate<double>(d, threads), "flop/s");
        if (name == "gemm32")
          result[name][shape] = as_json(bench::gemm_rate<float>(d, threads), "flop/s");
        if (name == "gemm64")
          result[name][shape] = as_json(bench::gemm_rate<double>(d, threads), "flop/s");
      }
    }
    if (!packed.empty()) {
      double bytes = 0;
      result["inflate"] = as_json(bench::inflate_rate(packed, &bytes), "bytes/s");
      result["inflate"]["bytes"] = bytes;
    }
    if (!file.empty()) result["pread"] = as_json(bench::pread_rate(file, threads), "bytes/s");
    std::cout << result.dump(1) << '\n';
  } catch (const std::exception& error) {
    std::cerr << "bench_rates: " << error.what() << '\n';
    return 1;
  }
}
