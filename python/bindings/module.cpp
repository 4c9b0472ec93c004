// The core as Python sees it: a few functions over borrowed points. Everything that makes it pleasant
// to use stands in python/fwsr.
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/data/read.hpp"
#include "fwsr/methods/compare.hpp"
#include "fwsr/methods/compare_table.hpp"
#include "fwsr/solver/plan_time.hpp"
#include "fwsr/solver/result_fields.hpp"
#include "fwsr/solver/sweep.hpp"
#include "fwsr/version.hpp"
#include "python/bindings/encoder.hpp"
#include "python/bindings/options.hpp"
#include "python/bindings/planned.hpp"
#include "python/bindings/points.hpp"
#include "python/bindings/record.hpp"
#include "python/bindings/report.hpp"
#include "python/bindings/results.hpp"
#include "python/bindings/shards.hpp"
#include "python/bindings/watched.hpp"
#include "python/bindings/words.hpp"

namespace fwsr::python {

namespace {

using namespace nb::literals;

/// Options that the method does not have are told in the table; settings that it does not have are refused.
Contestant contestant_of(std::string name, const SelectOptions& options,
                         const MethodChoice& choice) {
  settings_of(find_method(choice.name), choice.settings);
  try {
    return {.name = std::move(name), .request = Request(options, choice)};
  } catch (const Error& e) {
    return {.name = std::move(name), .request = std::nullopt, .refusal = e.what()};
  }
}

/// `contestants`: tuples of the name for the table, method, settings, options and seed.
nb::list compare_methods(const GivenPoints& points, const nb::list& contestants,
                         const nb::dict& judged_by, const nb::object& labels,
                         const std::vector<std::string>& names, const nb::object& counts,
                         Index repeats, std::optional<double> time_limit,
                         const nb::object& callback, bool every_step) {
  Watched watched({callback, every_step});
  const Classes classes = read_classes(labels, names, counts, points.rows());
  const SelectOptions judge_options = read_options(judged_by);
  std::vector<Contestant> all;
  for (const nb::handle c : contestants)
    all.push_back(contestant_of(nb::cast<std::string>(c[0]), read_options(nb::cast<nb::dict>(c[3])),
                                read_choice(nb::cast<std::string>(c[1]), nb::cast<nb::dict>(c[2]),
                                            nb::cast<std::uint64_t>(c[4]))));
  const CompareOptions how{
      .repeats = repeats, .time_limit = time_limit, .per_class = classes.counts};
  return list_of(unless_changed(points, watched.run([&](const CompareObserver& observer) {
    return compare(points.here(), classes.labels, all, judge_options, how, observer);
  })));
}

/// `rows`: tuples of name, outcome, means and deviations of all measures.
std::string comparison_text(const nb::list& rows) {
  std::vector<TableLine> lines;
  for (const nb::handle row : rows) {
    TableLine line{.name = nb::cast<std::string>(row[0])};
    const auto outcome = nb::cast<std::string>(row[1]);
    for (const auto o : {Comparison::Outcome::too_large, Comparison::Outcome::too_slow,
                         Comparison::Outcome::refused})
      if (outcome == name_of(o)) line.outcome = o;
    const auto means = nb::cast<std::vector<double>>(row[2]);
    const auto deviations = nb::cast<std::vector<double>>(row[3]);
    for (std::size_t m = 0; m < means.size(); ++m)
      line.spreads.push_back({.mean = means[m], .deviation = deviations.at(m)});
    lines.push_back(std::move(line));
  }
  return comparison_table(lines);
}

const Measure& find_measure(const std::string& name) {
  for (const Measure& m : measures())
    if (name == m.name) return m;
  throw Error(fmt::format("there is no measure '{}'", name));
}

/// A file by the readers of fwsr/data.
GivenPoints read_file(const std::string& path, const std::string& label_column,
                      const std::string& id_column, const std::vector<std::string>& columns,
                      const std::vector<std::string>& exclude_columns, const std::string& header,
                      const std::string& variable, Index hold_at_most, Index memory) {
  Watched watched({nb::none()});
  auto data = watched.run([&](const CompareObserver& observer) {
    return read_dataset(path, {.label_column = label_column,
                               .id_column = id_column,
                               .columns = columns,
                               .exclude_columns = exclude_columns,
                               .variable = variable,
                               .header = header == "yes"  ? Header::yes
                                         : header == "no" ? Header::no
                                                          : Header::automatic,
                               .threads = default_threads(),
                               .hold_at_most = hold_at_most,
                               .budget = MemoryBudget(memory),
                               .keep_going = [&] { return observer({}); }});
  });
  if (!data) throw Error(data.error().message);
  return dataset_points(std::move(*data));
}

/// How a table of text was understood, with a line that says all of it; None for other formats.
nb::object table_of(const Dataset& data) {
  if (!data.table) return nb::none();
  const TableReading& table = *data.table;
  const auto or_none = [](const std::string& text) {
    return text.empty() ? nb::object(nb::none()) : nb::cast(text);
  };
  nb::dict left_out;
  for (const TableReading::LeftOut& c : table.left_out) left_out[c.column.c_str()] = c.why;
  nb::dict d;
  d["separator"] = std::string(1, table.separator);
  d["header"] = table.header;
  d["header_why"] = in_python_words(table.header_why);
  d["label_column"] = or_none(table.label_column);
  d["id_column"] = or_none(table.id_column);
  d["id_why"] = or_none(table.id_why);
  d["left_out"] = left_out;
  d["comment_lines"] = table.comment_lines;
  d["blank_lines"] = table.blank_lines;
  d["text"] = in_python_words(describe(table));
  return d;
}

std::vector<std::string> read_label_file(const std::string& path, Index memory) {
  auto labels = read_labels(path, MemoryBudget(memory));
  if (!labels) throw Error(labels.error().message);
  return labels->words();
}

Index parsed_bytes(const std::string& text) {
  const auto bytes = parse_bytes(text);
  if (!bytes) throw Error(bytes.error().message);
  return *bytes;
}

/// Of bfloat16, which NumPy does not know, the bits as uint16.
nb::object narrow_array(const NarrowView& v, nb::handle self) {
  const bool integer = v.number != NarrowNumber::float16 && v.number != NarrowNumber::bfloat16;
  const bool is_signed = v.number == NarrowNumber::int8 || v.number == NarrowNumber::int16;
  const auto code = v.number == NarrowNumber::float16 ? nb::dlpack::dtype_code::Float
                    : integer && is_signed            ? nb::dlpack::dtype_code::Int
                                                      : nb::dlpack::dtype_code::UInt;
  const nb::dlpack::dtype type{static_cast<std::uint8_t>(code),
                               static_cast<std::uint8_t>(8 * bytes_of(v.number)), 1};
  const std::size_t shape[] = {static_cast<std::size_t>(v.rows), static_cast<std::size_t>(v.cols)};
  const std::int64_t strides[] = {v.stride, 1};
  return nb::cast(nb::ndarray<nb::numpy, nb::ro>(v.numbers, 2, shape, self, strides, type));
}

/// The points as arrays that `self` owns: one dense matrix, or values, columns and starts; None when they
/// stay in their file.
nb::object arrays_of(nb::handle self) {
  const auto& points = nb::cast<const GivenPoints&>(self);
  const auto vector = [&]<class T>(const T* data, Index size) {
    return nb::cast(nb::ndarray<nb::numpy, const T>(data, {static_cast<std::size_t>(size)}, self));
  };
  return std::visit(
      [&]<class View>(const View& v) -> nb::object {
        if constexpr (requires { v.values; }) {
          const Index entries = v.starts[v.rows];
          return nb::make_tuple(vector(v.values, entries), vector(v.columns, entries),
                                vector(v.starts, v.rows + 1));
        } else if constexpr (requires { v.data; }) {
          using T = std::remove_pointer_t<decltype(v.data)>;
          return nb::cast(nb::ndarray<nb::numpy, T>(
              v.data, {static_cast<std::size_t>(v.rows), static_cast<std::size_t>(v.cols)}, self,
              {v.stride, 1}));
        } else if constexpr (requires { v.numbers; }) {
          return narrow_array(v, self);
        } else {
          return nb::none();
        }
      },
      points.here());
}

/// Rows of points that stay in their file, as an array.
nb::object read_rows(const GivenPoints& points, Index first, Index last) {
  return std::visit(
      [&]<class View>(const View& v) -> nb::object {
        if constexpr (requires { v.source; }) {
          if (first < 0 || last < first || last > v.rows)
            throw Error(fmt::format("rows {} to {} of {} were asked for", first, last, v.rows));
          const auto read = [&]<class T>(const RowSource<T>& source) {
            auto* const rows = new T[static_cast<std::size_t>((last - first) * v.cols)];
            const nb::capsule owner(rows, [](void* p) noexcept { delete[] static_cast<T*>(p); });
            source.read(first, last, rows);
            return nb::cast(nb::ndarray<nb::numpy, T>(
                rows, {static_cast<std::size_t>(last - first), static_cast<std::size_t>(v.cols)},
                owner));
          };
          return read(*v.source);
        } else {
          throw Error("these points are in memory");
        }
      },
      points.here());
}

void translate(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const MemoryError& e) {
    PyErr_SetString(PyExc_MemoryError, in_python_words(e.what()).c_str());
  } catch (const Error& e) {
    PyErr_SetString(PyExc_ValueError, in_python_words(e.what()).c_str());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError,
                    "the machine has no memory left for this; give memory= to be told "
                    "what it takes beforehand, or choose among fewer points");
  }
}

}  // namespace

}  // namespace fwsr::python

NB_MODULE(_core, m) {
  using namespace fwsr;
  using namespace fwsr::python;
  nb::register_exception_translator(translate);
  stop_all_at_exit();
  nb::set_leak_warnings(false);  // daemon threads keep what they hold when Python exits
  const auto interrupted = nb::exception<Stopped>(m, "Interrupted", PyExc_RuntimeError);
  interrupted.attr("__doc__") = "The callback returned False, and there is no answer yet.";
  interrupted.attr("__module__") = "fwsr";

  nb::class_<GivenPoints>(m, "Points", "Points in place: arrays, or rows of a file.")
      .def_static("dense", dense_points, "matrix"_a, "bfloat16"_a = false)
      .def_static("sparse", sparse_points, "values"_a, "columns"_a, "starts"_a, "features"_a)
      .def_static("on_card", card_points, "matrix"_a)
      .def_static("on_card_at", card_points_at, "address"_a, "type"_a, "rows"_a, "cols"_a,
                  "stride"_a, "device"_a)
      .def_static("in_file", file_points, "path"_a, "type"_a, "rows"_a, "cols"_a, "offset"_a)
      .def_static("read", read_file, "path"_a, "label_column"_a, "id_column"_a, "columns"_a,
                  "exclude_columns"_a, "header"_a, "variable"_a, "hold_at_most"_a, "memory"_a)
      .def_prop_ro("rows", &GivenPoints::rows)
      .def_prop_ro("cols", &GivenPoints::cols)
      .def_prop_ro("single", [](const GivenPoints& p) { return !p.there && is_single(p.view); })
      .def_prop_ro("streamed", [](const GivenPoints& p) { return !p.there && is_streamed(p.view); })
      .def_prop_ro("number", [](const GivenPoints& p) { return number_name(p.here()); })
      .def_prop_ro("arrays", arrays_of)
      .def_prop_ro("labels", [](const GivenPoints& p) { return p.file.value().labels.words(); })
      .def_prop_ro("ids", [](const GivenPoints& p) { return p.file.value().ids; })
      .def_prop_ro("columns", [](const GivenPoints& p) { return p.file.value().columns; })
      .def_prop_ro(
          "image",
          [](const GivenPoints& p) { return p.file ? p.file->image : std::vector<Index>(); })
      .def_prop_ro("notes", [](const GivenPoints& p) { return p.file.value().notes; })
      .def_prop_ro("table", [](const GivenPoints& p) { return table_of(p.file.value()); })
      .def_prop_ro("can_be_streamed",
                   [](const GivenPoints& p) { return p.file.value().can_be_streamed; })
      .def("read_rows", read_rows, "first"_a, "last"_a);

  nb::class_<Planned>(m, "Planned", "A selection that is planned, to be run.")
      .def(nb::init<const GivenPoints&, const nb::dict&, const std::string&, const nb::dict&,
                    std::uint64_t, const nb::object&, const std::vector<std::string>&,
                    const nb::object&>(),
           nb::keep_alive<1, 2>(), "points"_a, "options"_a, "method"_a, "settings"_a, "seed"_a,
           "labels"_a.none(), "names"_a, "counts"_a.none())
      .def_prop_ro("plan", &Planned::as_python)
      .def_prop_ro("long_run", &Planned::long_run)
      .def("select", &Planned::select, "callback"_a.none(), "every_step"_a);
  nb::class_<PlannedSweep>(m, "PlannedSweep", "A sweep that is planned, to be run.")
      .def(
          nb::init<const GivenPoints&, const nb::dict&, const nb::list&, const std::vector<double>&,
                   const nb::object&, const std::vector<std::string>&, const nb::object&>(),
          nb::keep_alive<1, 2>(), "points"_a, "options"_a, "alphas"_a, "etas"_a, "labels"_a.none(),
          "names"_a, "counts"_a.none())
      .def("sweep", &PlannedSweep::sweep, "callback"_a.none(), "every_step"_a);
  m.def("words_for_seconds", words_for_seconds, "seconds"_a);
  m.def("compare", compare_methods, "points"_a, "contestants"_a, "judged_by"_a, "labels"_a.none(),
        "names"_a, "counts"_a.none(), "repeats"_a, "time_limit"_a.none(), "callback"_a.none(),
        "every_step"_a);
  bind_encoder(m);
  bind_report(m);
  bind_record(m);
  bind_shards(m);
  m.def("methods", [] {
    nb::list all;
    for (const Method& method : fwsr::methods()) all.append(to_python(method));
    return all;
  });
  m.def("measures", [] {
    nb::list all;
    for (const Measure& measure : fwsr::measures())
      all.append(nb::make_tuple(measure.name, measure.title, measure.less_is_better,
                                in_python_words(std::string(measure.about))));
    return all;
  });
  m.def("comparison_table", comparison_text, "rows"_a);
  m.def(
      "best_of",
      [](const std::string& measure, const std::vector<double>& means) {
        return best_of(means, find_measure(measure));
      },
      "measure"_a, "means"_a);
  m.def(
      "measured_text",
      [](const std::string& measure, double mean, double deviation) {
        return measured_text({.mean = mean, .deviation = deviation}, find_measure(measure));
      },
      "measure"_a, "mean"_a, "deviation"_a);
  m.attr("default_method") = default_method;
  m.attr("default_methods") = default_methods;
  m.def("options", option_list);
  m.def("compare_options", compare_options);
  m.def("result_fields", result_fields);
  m.attr("result_schema") = result_schema;
  m.def("read_labels", read_label_file, "path"_a, "memory"_a);
  m.def("parse_bytes", parsed_bytes, "text"_a);
  m.def(
      "format_bytes", [](double bytes) { return format_bytes(bytes); }, "bytes"_a);
  m.def("available_memory", [] { return available_memory(); });
  m.def("default_threads", default_threads);
  m.def("cards", [] {
    const Cards found = find_cards();
    return nb::make_tuple(found.names, found.why_none);
  });
  m.attr("version") = FWSR_VERSION;
}
