#include "python/bindings/report.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
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

/// `runs`: tuples of a Selection, the points of its class or None, and its name. `method`: name, settings and options as
/// for a run.
std::string make_page(const GivenPoints& points, const nb::list& runs, const std::string& method,
                      const nb::dict& settings, const nb::dict& options, const nb::dict& words,
                      const nb::object& labels, const std::vector<std::string>& names,
                      int threads) {
  const Words w{words};
  const Request request(read_options(options), read_choice(method, settings, 0));
  const Labels classes = read_classes(labels, names, nb::none(), rows_of(points.view)).labels;
  const auto ids = w.get<std::vector<std::string>>("ids"),
             texts = w.get<std::vector<std::string>>("texts"),
             pictures = w.get<std::vector<std::string>>("pictures"),
             columns = w.get<std::vector<std::string>>("columns");
  const auto shape = w.get<std::vector<Index>>("images");
  report::SelectPage page{.rows = {.name = w.get<std::string>("name"), .points = points.view}};
  page.rows.labels = &classes;
  page.rows.ids = ids;
  page.rows.texts = texts;
  page.rows.pictures = pictures;
  page.rows.columns = columns;
  if (!shape.empty())
    page.rows.images = report::ImageShape{
        .height = shape.at(0), .width = shape.at(1), .channels = shape.size() > 2 ? shape[2] : 1};
  page.axes = w.get<std::vector<Index>>("axes");
  const auto weights = w.get<std::vector<double>>("weights");
  page.weights = weights;
  page.warnings = w.get<std::vector<std::string>>("warnings");
  page.about = {.command = w.get<std::string>("command"),
                .again = w.get<std::vector<std::string>>("again"),
                .python = true,
                .seconds = {.setup = w.get<double>("seconds")},
                .threads = threads,
                .version = FWSR_VERSION};
  std::vector<Selection> selections;
  std::vector<std::vector<Index>> members;
  for (const nb::handle run : runs) {
    selections.push_back(selection_of(run[0]));
    members.push_back(list_of<Index, Indices>(nb::object(run[1])));
    page.classes.push_back(nb::cast<std::string>(run[2]));
  }
  for (std::size_t r = 0; r < selections.size(); ++r)
    page.runs.push_back({.selection = &selections[r],
                         .members = members[r],
                         .options = request.options,
                         .dissimilarities = takes_dissimilarities(request.settings)});
  Watched watched({nb::none()});
  return watched.run([&](const CompareObserver& observer) {
    return report::select_page(page, threads, [&] { return observer({}); });
  });
}

}  // namespace

void bind_report(nb::module_& m) {
  m.def("select_page", make_page, "points"_a, "runs"_a, "method"_a, "settings"_a, "options"_a,
        "words"_a, "labels"_a.none(), "names"_a, "threads"_a);
  m.def(
      "write_file",
      [](const std::string& path, const std::string& text) {
        const auto done = write_whole(path, [&](std::ostream& out) { out << text; });
        if (!done) throw Error(done.error().message);
      },
      "path"_a, "text"_a);
}

}  // namespace fwsr::python
