// Times the library through its public interface, with the rates of the machine measured before,
// between and after the repeats, so that ratios are of the same minute. Prints JSON.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "bench/floors.hpp"
#include "fwsr/data/read.hpp"
#include "fwsr/solver/select.hpp"
#include "fwsr/views.hpp"
#if __has_include("fwsr/solver/sweep.hpp")
#include "fwsr/solver/sweep.hpp"
#define FWSR_HAVE_SWEEP 1
#else
#define FWSR_HAVE_SWEEP 0
#endif

namespace {

using bench::Index;
using bench::now;
using fwsr::SelectOptions;
using nlohmann::ordered_json;

struct Arguments {
  std::string task;   // select, classes, sweep, points or read
  std::string data;   // a file, or "blobs:NxD"
  Index rows = 0;     // take only the first
  bool wide = false;  // float64
  std::vector<Index> class_sizes;
  std::vector<double> alphas, etas;
  std::vector<std::string> rates;
  int repeats = 5;
  bool full = false;  // also with the certificate
  Index rank = 0;
  std::string kernel = "linear";
  std::string output;
  SelectOptions options;
};

/// Points in memory of their own, in one of the two types or as narrow ones are stored.
struct Numbers {
  Index n = 0, d = 0;
  std::vector<float> singles;
  std::vector<double> doubles;
  std::vector<std::byte> narrow;
  fwsr::NarrowNumber number{};  // of the narrow ones

  fwsr::PointsView view() const {
    if (!narrow.empty()) return fwsr::narrow_view(narrow.data(), number, n, d);
    if (!doubles.empty()) return fwsr::MatrixView<const double>{doubles.data(), n, d, d};
    return fwsr::MatrixView<const float>{singles.data(), n, d, d};
  }
  Index bytes() const {
    if (!narrow.empty()) return std::ssize(narrow);
    return n * d * (doubles.empty() ? 4 : 8);
  }
  const float* as_floats() const {
    if (!narrow.empty()) return reinterpret_cast<const float*>(narrow.data());
    return doubles.empty() ? singles.data() : reinterpret_cast<const float*>(doubles.data());
  }
};

Numbers load(const Arguments& a, int threads) {
  Numbers points;
  if (a.data.rfind("blobs:", 0) == 0) {
    char x = 0;
    std::istringstream text(a.data.substr(6));
    if (!(text >> points.n >> x >> points.d) || x != 'x' || points.n < 1 || points.d < 1)
      throw std::runtime_error("'" + a.data + "' is not of the form blobs:NxD");
    points.singles = bench::make_points(points.n, points.d, 50, threads);
  } else {
    const fwsr::Result<fwsr::Dataset> set = fwsr::read_dataset(a.data);
    if (!set) throw std::runtime_error(set.error().message);
    const fwsr::PointsView all = set->view();
    if (fwsr::is_sparse(all))
      throw std::runtime_error(a.data + ": sparse points are not measured here");
    points.n = a.rows > 0 ? std::min(a.rows, fwsr::rows_of(all)) : fwsr::rows_of(all);
    points.d = fwsr::cols_of(all);
    const auto* const narrow = std::get_if<fwsr::NarrowView>(&all);
    if (narrow && !a.wide) {
      points.number = narrow->number;
      const Index row = points.d * fwsr::bytes_of(points.number);
      for (Index i = 0; i < points.n; ++i)
        points.narrow.insert(points.narrow.end(), narrow->address(i), narrow->address(i) + row);
      return points;
    }
    points.singles.reserve(static_cast<std::size_t>(points.n * points.d));
    const auto copy = [&](const auto& view) {
      for (Index i = 0; i < points.n; ++i)
        for (Index l = 0; l < points.d; ++l)
          points.singles.push_back(static_cast<float>(view(i, l)));
    };
    if (narrow)
      copy(*narrow);
    else if (fwsr::is_single(all))
      copy(std::get<fwsr::MatrixView<const float>>(all));
    else
      copy(std::get<fwsr::MatrixView<const double>>(all));
  }
  if (a.wide) {
    points.doubles.assign(points.singles.begin(), points.singles.end());
    std::vector<float>().swap(points.singles);
  }
  return points;
}

/// One sample of every rate asked for.
ordered_json sample_rates(const Arguments& a, const Numbers& points, int threads) {
  ordered_json result = ordered_json::object();
  for (const std::string& spec : a.rates) {
    const std::size_t colon = spec.find(':');
    const std::string name = spec.substr(0, colon);
    const Index d = colon == std::string::npos ? points.d : std::stol(spec.substr(colon + 1));
    bench::Rate rate;
    if (spec == "read") {  // the points themselves
      rate = bench::read_rate(points.as_floats(), points.bytes() / 4, threads);
    } else if (name == "read") {  // as many MB of something else
      const std::vector<float> other(static_cast<std::size_t>(d) * 250'000, 1.0f);
      rate = bench::read_rate(other.data(), static_cast<Index>(other.size()), threads);
    } else if (name == "syrk") {
      rate = a.wide ? bench::syrk_rate<double>(d, threads) : bench::syrk_rate<float>(d, threads);
    } else if (name == "gemm") {
      rate = a.wide ? bench::gemm_rate<double>(d, threads) : bench::gemm_rate<float>(d, threads);
    } else if (name == "gemm64") {  // in double, whatever the points are
      rate = bench::gemm_rate<double>(d, threads);
    } else if (name == "exp") {
      rate = a.wide ? bench::exp_rate<double>(threads) : bench::exp_rate<float>(threads);
    } else if (name == "small") {  // one core; all classes have the size of the first
      rate = bench::small_gram_rate(points.as_floats(), points.n / a.class_sizes.at(0),
                                    a.class_sizes.at(0), points.d, 1);
    } else {
      throw std::runtime_error("no rate '" + spec +
                               "'; choose from read, syrk, gemm, gemm64, exp, small");
    }
    result[spec] = rate.value;
    result["way"][spec] = rate.way;
  }
  return result;
}

/// A low-rank kernel, where this build has it.
bool set_rank(auto& options, Index rank) {
  if constexpr (requires { options.rank = rank; }) {
    options.rank = rank;
    return true;
  }
  return rank == 0;
}

ordered_json plan_of(const fwsr::Plan& plan) {
  return {{"form", name_of(plan.form)},
          {"kernel_by", name_of(plan.kernel_by)},
          {"why", plan.why},
          {"threads", plan.threads},
          {"memory_bytes", plan.memory_bytes},
          {"setup_flops", plan.setup_flops},
          {"step_flops", plan.step_flops}};
}

ordered_json times_of(double total, const fwsr::Selection& s) {
  return {{"total", total},
          {"setup", s.seconds.setup},
          {"steps", s.seconds.steps},
          {"certificate", s.seconds.certificate},
          {"step_count", s.trace.size()}};
}

/// Class c of every point: the first sizes[0] points are of class 0, and so on.
fwsr::Labels labels_of(const std::vector<Index>& sizes, Index n) {
  fwsr::Labels labels;
  for (std::size_t c = 0; static_cast<Index>(labels.size()) < n; c = c + 1) {
    const Index size = c < sizes.size() ? sizes[c] : sizes.back();
    for (Index i = 0; i < size && static_cast<Index>(labels.size()) < n; ++i)
      labels.add(std::to_string(c));
  }
  return labels;
}

ordered_json run_classes(const Numbers& points, const fwsr::Labels& labels,
                         const SelectOptions& options, ordered_json& answer) {
  fwsr::ClassCounts counts;
  counts.number = options.exemplars;
  const double start = now();
  const std::vector<fwsr::ClassSelection> classes =
      fwsr::select_per_class(points.view(), labels, counts, options);
  const double total = now() - start;
  double setup = 0, steps = 0, certificate = 0;
  Index count = 0;
  std::vector<Index> step_counts, sizes;
  for (const fwsr::ClassSelection& c : classes) {
    setup += c.selection.seconds.setup;
    steps += c.selection.seconds.steps;
    certificate += c.selection.seconds.certificate;
    step_counts.push_back(static_cast<Index>(c.selection.trace.size()));
    sizes.push_back(c.points);
    count += step_counts.back();
  }
  if (!classes.empty()) answer["plan"] = plan_of(classes.front().selection.plan);
  answer["classes"] = {{"sizes", sizes}, {"steps", step_counts}};
  // Parts are sums over the classes: more than the total where classes run side by side.
  return {{"total", total},
          {"setup", setup},
          {"steps", steps},
          {"certificate", certificate},
          {"step_count", count}};
}

ordered_json run_all(const Numbers& points, const SelectOptions& options, ordered_json& answer) {
  const double start = now();
  const fwsr::Selection s = fwsr::select(points.view(), options);
  const ordered_json times = times_of(now() - start, s);
  answer["plan"] = plan_of(s.plan);
  answer["picks"] = s.exemplars;
  answer["status"] = fwsr::name_of(s.status);
  answer["gamma"] = s.gamma;
  if (s.certificate) answer["reconstruction_error"] = s.certificate->reconstruction_error;
  return times;
}

/// Repeats with the rates in between.
ordered_json measure(const Arguments& a, const Numbers& points, int threads) {
  fwsr::Labels labels;
  if (a.task == "classes") labels = labels_of(a.class_sizes, points.n);
  const auto run = [&](fwsr::CertificateKind certificate, ordered_json& into) {
    SelectOptions options = a.options;
    options.certificate = certificate;
    return labels.empty() ? run_all(points, options, into)
                          : run_classes(points, labels, options, into);
  };
  ordered_json answer, none = ordered_json::array(), full = ordered_json::array(),
                       rates = ordered_json::array();
  run(fwsr::CertificateKind::none, answer);  // first touch of everything
  rates.push_back(sample_rates(a, points, threads));
  for (int r = 0; r < a.repeats; ++r) {
    if (a.full) full.push_back(run(fwsr::CertificateKind::full, answer));
    none.push_back(run(fwsr::CertificateKind::none, answer));
    rates.push_back(sample_rates(a, points, threads));
  }
  answer["repeats"] = none;
  if (a.full) answer["full"] = full;
  answer["rates"] = rates;
  return answer;
}

/// The whole grid at once, and setting by setting.
ordered_json measure_sweep([[maybe_unused]] const Arguments& a,
                           [[maybe_unused]] const Numbers& points, [[maybe_unused]] int threads) {
#if FWSR_HAVE_SWEEP
  SelectOptions options = a.options;
  options.certificate = fwsr::CertificateKind::none;
  options.eta_relative = true;
  ordered_json together = ordered_json::array(), separate = ordered_json::array();
  ordered_json rates = ordered_json::array();
  rates.push_back(sample_rates(a, points, threads));
  bool same = true;
  std::size_t steps = 0;  // of all settings
  for (int r = 0; r < a.repeats; ++r) {
    const double start = now();
    const auto entries =
        fwsr::sweep(points.view(), options, {a.alphas.begin(), a.alphas.end()}, a.etas);
    const double middle = now();
    std::vector<std::vector<Index>> alone;
    for (const double alpha : a.alphas) {
      for (const double eta : a.etas) {
        SelectOptions single = options;
        single.alpha = alpha;
        single.eta = eta;
        alone.push_back(fwsr::select(points.view(), single).exemplars);
      }
    }
    together.push_back(middle - start);
    separate.push_back(now() - middle);
    const auto picks_of = [](const auto& entry) {
      if constexpr (requires { entry.selection.exemplars; })
        return entry.selection.exemplars;
      else
        return entry.exemplars;
    };
    // The same answers, in whatever order the sweep lists its settings.
    std::vector<std::vector<Index>> listed;
    for (const auto& entry : entries) listed.push_back(picks_of(entry));
    std::sort(listed.begin(), listed.end());
    std::sort(alone.begin(), alone.end());
    same = same && listed == alone;
    steps = 0;
    for (const auto& entry : entries)
      if constexpr (requires { entry.selection.trace; }) steps += entry.selection.trace.size();
    rates.push_back(sample_rates(a, points, threads));
  }
  return {
      {"together", together}, {"separate", separate}, {"settings", a.alphas.size() * a.etas.size()},
      {"step_count", steps},  {"rates", rates},       {"same_picks", same}};
#else
  return {{"unavailable", "this build has no fwsr/solver/sweep.hpp"}};
#endif
}

/// Reading the file, from opening it to points in memory.
ordered_json measure_reading(const Arguments& a, int threads) {
  ordered_json seconds = ordered_json::array();
  Index rows = 0, columns = 0;
  for (int r = 0; r < a.repeats + 1; ++r) {
    const double start = now();
    fwsr::ReadOptions options;
    options.threads = threads;
    const fwsr::Result<fwsr::Dataset> set = fwsr::read_dataset(a.data, options);
    if (!set) throw std::runtime_error(set.error().message);
    if (r > 0) seconds.push_back(now() - start);
    rows = fwsr::rows_of(set->view()), columns = fwsr::cols_of(set->view());
  }
  return {{"seconds", seconds}, {"points", rows}, {"features", columns}, {"threads", threads}};
}

/// Points as a float32 .npy file.
void write_points(const Numbers& points, const std::string& path) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                       std::to_string(points.n) + ", " + std::to_string(points.d) + "), }";
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  std::ofstream out(path, std::ios::binary);
  out.write("\x93NUMPY\x01\x00", 8);
  out.put(static_cast<char>(header.size() & 0xFF));
  out.put(static_cast<char>(header.size() >> 8));
  out << header;
  out.write(reinterpret_cast<const char*>(points.singles.data()),
            static_cast<std::streamsize>(points.bytes()));
  if (!out.flush()) throw std::runtime_error(path + ": could not be written");
}

double peak_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

fwsr::KernelType kernel_named(const std::string& name) {
  for (const fwsr::KernelType type :
       {fwsr::KernelType::linear, fwsr::KernelType::rbf, fwsr::KernelType::cosine})
    if (name == fwsr::name_of(type)) return type;
  throw std::runtime_error("no kernel '" + name + "' here; choose from linear, rbf, cosine");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Times fwsr in process; prints JSON.\n"
      "usage: bench_inprocess select|classes|sweep|points|read DATA|blobs:NxD -k K [options]"};
  Arguments a;
  app.add_option("task", a.task,
                 "select, classes, sweep, points (only writes them), or read (a file)")
      ->required()
      ->check(CLI::IsMember({"select", "classes", "sweep", "points", "read"}));
  app.add_option("data", a.data, "a file, or blobs:NxD")->required();
  app.add_option("-k,--exemplars", a.options.exemplars);
  app.add_option("--rows", a.rows, "take only the first rows of the file");
  app.add_flag("--float64", a.wide);
  app.add_option("--class-sizes", a.class_sizes,
                 "points of each class; the last goes on to the end")
      ->delimiter(',');
  app.add_option("--alphas", a.alphas)->delimiter(',');
  app.add_option("--etas", a.etas, "in units of the root-mean-square norm")->delimiter(',');
  app.add_option("--rates", a.rates,
                 "read, read:MB, syrk, gemm, exp, small; syrk:D and gemm:D for another d")
      ->delimiter(',');
  app.add_option("--repeats", a.repeats)->check(CLI::PositiveNumber);
  app.add_flag("--full", a.full, "also with the certificate");
  app.add_option("--kernel", a.kernel);
  app.add_option("--gamma", a.options.kernel.gamma);
  app.add_option("--rank", a.rank);
  app.add_option("--threads", a.options.threads);
  app.add_option("-o,--output", a.output, "points: the .npy file to write");
  CLI11_PARSE(app, argc, argv);

  try {
    const int threads = a.options.threads > 0
                            ? a.options.threads
                            : static_cast<int>(std::thread::hardware_concurrency());
    a.options.kernel.type = kernel_named(a.kernel);
    if (!set_rank(a.options, a.rank)) {
      std::cout << ordered_json{{"unavailable", "this build has no low-rank kernels"}} << '\n';
      return 0;
    }
    if (a.task == "read") {
      std::cout << measure_reading(a, threads).dump() << '\n';
      return 0;
    }
    const Numbers points = load(a, threads);
    if (a.task == "points") {
      write_points(points, a.output);
      return 0;
    }
    if (a.task == "classes" && a.class_sizes.empty())
      throw std::runtime_error("classes need --class-sizes");
    ordered_json answer{{"points", points.n},
                        {"features", points.d},
                        {"type", a.wide ? "float64" : "float32"},
                        {"bytes", points.bytes()},
                        {"threads", threads}};
    answer.update(a.task == "sweep" ? measure_sweep(a, points, threads)
                                    : measure(a, points, threads));
    answer["peak_memory_bytes"] = peak_memory();
    std::cout << answer.dump() << '\n';
  } catch (const std::exception& error) {
    std::cerr << "bench_inprocess: " << error.what() << '\n';
    return 1;
  }
}
