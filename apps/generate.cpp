// fwsr generate: the synthetic sets of the paper.
#include <charconv>
#include <cstdint>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/command.hpp"
#include "apps/destination.hpp"
#include "apps/option_list.hpp"
#include "apps/summary.hpp"
#include "apps/text.hpp"
#include "apps/writers.hpp"
#include "fwsr/data/synthetic.hpp"
#include "fwsr/data/write.hpp"

namespace fwsr::app {

namespace {

struct GenerateArguments {
  std::string kind;
  std::string output, labels;
  ConvexOptions convex;
  BlobOptions blobs;
  const Writer<Synthetic>* write = nullptr;
};

MatrixView<const double> points_of(const Synthetic& set) {
  return {set.points.values.data(), set.points.rows, set.points.cols, set.points.cols};
}

void write_points_npy(std::ostream& out, const Synthetic& set, const WriteStyle&) {
  write_npy(out, points_of(set));
}

void write_points_csv(std::ostream& out, const Synthetic& set, const WriteStyle&) {
  const MatrixView<const double> points = points_of(set);
  for (Index i = 0; i < points.rows; ++i) {
    for (Index j = 0; j < points.cols; ++j)
      out << (j > 0 ? "," : "") << fmt::format("{}", points(i, j));
    out << '\n';
  }
}

const Writers<Synthetic>& points_writers() {
  static const Writers<Synthetic> table = {{{".npy", "npy"}, write_points_npy},
                                           {{".csv", "CSV"}, write_points_csv}};
  return table;
}

std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (text.empty() || code != std::errc{} || end != text.data() + text.size())
    throw UsageError(
        fmt::format("--seed {} is not a whole number from 0 to 2^64 - 1; write one such as 7",
                    in_quotes(text)));
  return seed;
}

/// One option whose text goes to a field of each kind of set that has it.
template <class... Fields>
void add_number(CLI::App& app, const std::string& flag, const std::string& help,
                Fields&... fields) {
  app.add_option_function<std::string>(
         flag,
         [flag, &fields...](const std::string& text) { (read_value(flag, text, fields), ...); },
         help)
      ->type_name("N")
      ->group("Options");
}

void add_arguments(CLI::App& app, GenerateArguments& a) {
  app.add_option(
      "KIND", a.kind,
      "blobs: Gaussian clusters around random centres; convex: random points and mixtures "
      "of a few of them");
  app.add_option("-o,--output", a.output, "where to write the points; .npy or .csv")
      ->type_name("FILE")
      ->group("Options");
  app.add_option("--labels", a.labels,
                 "also write one label per point: blobs its cluster, convex 1 for the points that "
                 "are mixed and 0 for the mixtures")
      ->type_name("FILE")
      ->group("Options");
  add_number(app, "--points", "how many points (blobs: 1000) or mixtures (convex: 120)",
             a.blobs.points, a.convex.points);
  add_number(app, "--dimensions", "features of a point (blobs: 1500, convex: 200)",
             a.blobs.dimensions, a.convex.dimensions);
  add_number(app, "--clusters", "blobs: how many (10)", a.blobs.clusters);
  add_number(app, "--deviation", "blobs: standard deviation around a centre (20)",
             a.blobs.deviation);
  add_number(app, "--exemplars", "convex: how many points are mixed (30)", a.convex.exemplars);
  add_number(app, "--noise", "convex: standard deviation of noise on the mixtures (0)",
             a.convex.noise);
  app.add_option_function<std::string>(
         "--seed",
         [&a](const std::string& text) { a.blobs.seed = a.convex.seed = parse_seed(text); },
         "another seed gives other numbers, the same seed the same (0)")
      ->type_name("N")
      ->group("Options");
}

void check_arguments(const CLI::App& app, GenerateArguments& a) {
  if (a.kind.empty()) throw UsageError("KIND is missing: write blobs or convex");
  if (a.kind != "blobs" && a.kind != "convex") {
    const auto near = nearest(a.kind, {"blobs", "convex"});
    throw UsageError(
        fmt::format("unknown kind {}; {}", in_quotes(a.kind),
                    near ? fmt::format("did you mean {}?", *near) : "write blobs or convex"));
  }
  const bool blobs_wanted = a.kind == "blobs";
  for (const char* name : {"--exemplars", "--noise"})
    if (blobs_wanted && app.count(name) > 0)
      throw UsageError(fmt::format("{} is an option of convex, not of blobs; leave it out", name));
  for (const char* name : {"--clusters", "--deviation"})
    if (!blobs_wanted && app.count(name) > 0)
      throw UsageError(fmt::format("{} is an option of blobs, not of convex; leave it out", name));
  if (a.output.empty()) throw UsageError("-o is missing: name the file to write, as in -o set.npy");
  a.write = &writer_of_output(points_writers(), a.output, "-o");
  check_destinations({{"-o", a.output}, {"--labels", a.labels}}, {});
}

/// Options the generator refuses are wrong use.
Synthetic make(const GenerateArguments& a) {
  try {
    return a.kind == "blobs" ? blobs(a.blobs) : convex_combinations(a.convex);
  } catch (const Error& e) {
    throw UsageError(fmt::format("generate {}: {}", a.kind, e.what()));
  }
}

constexpr const char* examples =
    "Examples:\n"
    "  fwsr generate blobs -o set.npy --labels y.txt --points 5000 --clusters 20 --dimensions 50\n"
    "  fwsr generate convex -o set.csv --noise 0.1 --seed 7\n";

}  // namespace

int run_generate(int argc, const char* const* argv) {
  GenerateArguments a;
  CLI::App app("Make one of the synthetic data sets of the paper.\n", "fwsr generate");
  prepare(app);
  add_arguments(app, a);
  app.footer(examples);
  if (!parse(app, argc, argv)) return 0;
  check_arguments(app, a);

  const Synthetic set = make(a);
  std::vector<Output> outputs;
  if (!a.labels.empty())
    outputs.push_back({a.labels, [&](std::ostream& out) {
                         for (const Index label : set.labels) out << label << '\n';
                       }});
  outputs.push_back({a.output, [&](std::ostream& out) { a.write->write(out, set, {}); }});
  write_results(outputs);
  write_stderr(fmt::format("fwsr: wrote {} of {} to {}\n", counted(set.points.rows, "point"),
                           counted(set.points.cols, "feature"), shown(a.output)));
  return 0;
}

}  // namespace fwsr::app
