#include "python/bindings/report.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "fwsr/base/write_file.hpp"
#include "fwsr/report/page.hpp"
#include "fwsr/version.hpp"
#include "python/bindings/options.hpp"
#include "python/bindings/points.hpp"
#include "python/bindings/watched.hpp"

namespace fwsr::python {

namespace {

using namespace nb::literals;

using Indices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Marks = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class To, class Array>
std::vector<To> list_of(nb::handle array) {
  if (array.is_none()) return {};
  const auto given = nb::cast<Array>(array);
  return std::vector<To>(given.data(), given.data() + given.size());
}

template <class Value>
std::optional<Value> found(nb::handle object, const char* name) {
  const nb::object value = object.attr(name);
  if (value.is_none()) return std::nullopt;
  return nb::cast<Value>(value);
}

Status status_named(const std::string& name) {
  for (int s = 0; s <= static_cast<int>(Status::candidates_exhausted); ++s)
    if (name == name_of(static_cast<Status>(s))) return static_cast<Status>(s);
  throw Error("there is no status '" + name + "'");
}

KernelType kernel_named(const std::string& name) {
  for (const KernelType type : values_of(KernelType{}))
    if (name == name_of(type)) return type;
  throw Error("there is no kernel '" + name + "'");
}

std::vector<Step> steps_of(nb::handle trace) {
  std::vector<Step> steps;
  const nb::dict columns = nb::cast<nb::dict>(trace);
  if (!columns.contains("f")) return steps;
  const auto picks = list_of<Index, Indices>(columns["pick"]),
             rows = list_of<Index, Indices>(columns["rows"]);
  const auto f = list_of<double, Numbers>(columns["f"]),
             gap = list_of<double, Numbers>(columns["gap"]);
  for (std::size_t s = 0; s < f.size(); ++s)
    steps.push_back({.pick = picks.at(s), .f = f[s], .gap = gap.at(s), .rows = rows.at(s)});
  return steps;
}

/// What a page says of a Selection of Python's.
Selection selection_of(nb::handle s) {
  Selection out;
  out.exemplars = list_of<Index, Indices>(s.attr("exemplars"));
  out.weights = list_of<double, Numbers>(s.attr("weights"));
  out.strength = list_of<double, Numbers>(s.attr("strength"));
  out.filled = list_of<bool, Marks>(s.attr("filled"));
  out.included = list_of<bool, Marks>(s.attr("included"));
  out.assignment = list_of<Index, Indices>(s.attr("assignment"));
  out.status = status_named(nb::cast<std::string>(s.attr("status")));
  out.trace = steps_of(s.attr("trace"));
  out.f_at_zero = nb::cast<double>(s.attr("f_at_zero"));
  out.gamma = found<double>(s, "gamma").value_or(0);
  if (const nb::object plan = s.attr("plan"); !plan.is_none()) {
    out.plan.method = nb::cast<std::string>(plan.attr("method"));
    out.plan.points = nb::cast<Index>(plan.attr("points"));
    if (out.plan.points > 0)
      out.plan.kernel = kernel_named(nb::cast<std::string>(plan.attr("kernel")));
  }
  if (const nb::object c = s.attr("certificate"); !c.is_none()) {
    Certificate& to = out.certificate.emplace();
    to.f = nb::cast<double>(c.attr("f"));
    to.f_at_zero = nb::cast<double>(c.attr("f_at_zero"));
    to.gap = nb::cast<double>(c.attr("gap"));
    to.reconstruction_error = nb::cast<double>(c.attr("reconstruction_error"));
    to.trusted = found<bool>(c, "trusted").value_or(true);
  }
  if (const nb::object r = s.attr("refinement"); !r.is_none())
    out.refinement.emplace().local_optimum = nb::cast<bool>(r.attr("local_optimum"));
  return out;
}

/// The words that a page needs, by name; those that are none are empty.
struct Words {
  const nb::dict& given;
  template <class Value>
  Value get(const char* name) const {
    return given.contains(name) ? nb::cast<Value>(given[name]) : Value{};
  }
};

/// A function of Python's that makes a small picture: path -> (source, problem).
std::function<report::PictureSource(const std::string&)> thumbnail_of(const nb::dict& words) {
  if (!words.contains("thumbnail")) return {};
  return [function = nb::object(words["thumbnail"])](const std::string& path) {
    Live::stay_if_ending();
    const nb::gil_scoped_acquire lock;
    const auto [source, problem] = nb::cast<std::pair<std::string, std::string>>(function(path));
    return report::PictureSource{.source = source, .problem = problem};
  };
}

/// The points as a page knows them; what it borrows lives here.
struct GivenRows {
  Labels classes;
  std::vector<std::string> ids, texts, pictures, columns;
  report::Rows rows;

  GivenRows(const GivenPoints& points, const nb::dict& words, const nb::object& labels,
            const std::vector<std::string>& names)
      : classes(read_classes(labels, names, nb::none(), rows_of(points.view)).labels) {
    const Words w{words};
    ids = w.get<std::vector<std::string>>("ids");
    texts = w.get<std::vector<std::string>>("texts");
    pictures = w.get<std::vector<std::string>>("pictures");
    columns = w.get<std::vector<std::string>>("columns");
    rows = {.name = w.get<std::string>("name"),
            .points = points.view,
            .labels = &classes,
            .ids = ids,
            .texts = texts,
            .pictures = pictures,
            .thumbnail = thumbnail_of(words),
            .columns = columns};
    const auto shape = w.get<std::vector<Index>>("images");
    if (!shape.empty())
      rows.images = report::ImageShape{
          .height = shape.at(0), .width = shape.at(1), .channels = shape.size() > 2 ? shape[2] : 1};
  }
  GivenRows(const GivenRows&) = delete;
  GivenRows& operator=(const GivenRows&) = delete;
};

report::About about_of(const nb::dict& words, int threads) {
  const Words w{words};
  return {.command = w.get<std::string>("command"),
          .again = w.get<std::vector<std::string>>("again"),
          .python = true,
          .seconds = {.setup = w.get<double>("seconds")},
          .threads = threads,
          .version = FWSR_VERSION};
}

/// `runs`: tuples of a Selection, the points of its class or None, and its name. `method`: name, settings and options as
/// for a run.
std::string make_page(const GivenPoints& points, const nb::list& runs, const std::string& method,
                      const nb::dict& settings, const nb::dict& options, const nb::dict& words,
                      const nb::object& labels, const std::vector<std::string>& names,
                      int threads) {
  const Words w{words};
  const Request request(read_options(options), read_choice(method, settings, 0));
  const GivenRows given(points, words, labels, names);
  report::SelectPage page{.rows = given.rows, .about = about_of(words, threads)};
  page.axes = w.get<std::vector<Index>>("axes");
  const auto weights = w.get<std::vector<double>>("weights");
  page.weights = weights;
  page.warnings = w.get<std::vector<std::string>>("warnings");
  std::vector<Selection> selections;
  std::vector<std::vector<Index>> members;
  for (const nb::handle run : runs) {
    selections.push_back(selection_of(run[0]));
    members.push_back(list_of<Index, Indices>(nb::object(run[1])));
    page.classes.push_back(nb::cast<std::string>(run[2]));
  }
  for (std::size_t r = 0; r < selections.size(); ++r)
    page.runs.push_back(report::run_of(request, selections[r], members[r]));
  Watched watched({nb::none()});
  return watched.run([&](const CompareObserver& observer) {
    return report::select_page(page, threads, [&] { return observer({}); });
  });
}

/// `methods`: tuples of name, reason, exemplars of the first run, means and deviations of all measures; without an
/// answer the last three are empty.
std::string make_compare_page(const GivenPoints& points, const nb::list& methods,
                              const nb::dict& words, const nb::object& labels,
                              const std::vector<std::string>& names) {
  const GivenRows given(points, words, labels, names);
  report::ComparePage page{.rows = given.rows, .about = about_of(words, 0)};
  for (const nb::handle method : methods) {
    report::ComparedMethod& one = page.methods.emplace_back();
    one.name = nb::cast<std::string>(method[0]);
    one.reason = nb::cast<std::string>(method[1]);
    one.exemplars = list_of<Index, Indices>(nb::object(method[2]));
    const auto means = nb::cast<std::vector<double>>(method[3]),
               deviations = nb::cast<std::vector<double>>(method[4]);
    for (std::size_t m = 0; m < means.size(); ++m)
      one.spreads.push_back({.mean = means[m], .deviation = deviations.at(m)});
    page.exemplars = std::max(page.exemplars, std::ssize(one.exemplars));
  }
  return report::compare_page(page);
}

/// `settings`: tuples of alpha as text, eta, status, and the Selections of all classes or the one.
std::string make_sweep_page(const GivenPoints& points, const nb::list& settings,
                            const nb::dict& words, const nb::object& labels,
                            const std::vector<std::string>& names) {
  const GivenRows given(points, words, labels, names);
  report::SweepPage page{.rows = given.rows, .about = about_of(words, 0)};
  for (const nb::handle setting : settings) {
    std::vector<Selection> runs;
    for (const nb::handle run : nb::cast<nb::list>(setting[3])) runs.push_back(selection_of(run));
    std::vector<const Selection*> all;
    for (const Selection& run : runs) all.push_back(&run);
    report::SweepSetting one =
        report::described(nb::cast<std::string>(setting[0]), nb::cast<double>(setting[1]),
                          status_named(nb::cast<std::string>(setting[2])), all);
    if (one.error && (!page.best || *one.error < *page.settings[*page.best].error))
      page.best = page.settings.size();
    page.settings.push_back(std::move(one));
  }
  return report::sweep_page(page);
}

}  // namespace

void bind_report(nb::module_& m) {
  m.def("select_page", make_page, "points"_a, "runs"_a, "method"_a, "settings"_a, "options"_a,
        "words"_a, "labels"_a.none(), "names"_a, "threads"_a);
  m.def("compare_page", make_compare_page, "points"_a, "methods"_a, "words"_a, "labels"_a.none(),
        "names"_a);
  m.def("sweep_page", make_sweep_page, "points"_a, "settings"_a, "words"_a, "labels"_a.none(),
        "names"_a);
  m.def(
      "write_file",
      [](const std::string& path, const std::string& text) {
        const auto done = write_whole(path, [&](std::ostream& out) { out << text; });
        if (!done) throw Error(done.error().message);
      },
      "path"_a, "text"_a);
}

}  // namespace fwsr::python
