#include "python/bindings/encoder.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "fwsr/base/result.hpp"
#include "fwsr/kernel/new_points.hpp"
#include "fwsr/solver/encode.hpp"
#include "fwsr/solver/options.hpp"
#include "python/bindings/points.hpp"
#include "python/bindings/watched.hpp"

namespace fwsr::python {

namespace {

using namespace nb::literals;

using NumberVector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using NumberMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Given>
std::span<const double> span_of(const Given& a) {
  return {a.data(), a.size()};
}
template <class Given>
std::span<const double> span_of(const std::optional<Given>& a) {
  return a ? span_of(*a) : std::span<const double>();
}
std::vector<double> copy_of(const NumberMatrix& a) {
  return {a.data(), a.data() + a.size()};
}

template <class Value>
Value named(const std::string& name) {
  for (const Value value : values_of(Value{}))
    if (name == name_of(value)) return value;
  throw Error(fmt::format("there is no '{}' here", name));
}

/// Room for an answer, which Python owns from the start.
template <class T>
struct Answer {
  explicit Answer(std::vector<std::size_t> lengths) : shape(std::move(lengths)) {
    std::size_t all = 1;
    for (const std::size_t length : shape) all *= length;
    data = new T[all];
    owner = nb::capsule(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  }
  nb::object array() const {
    return nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner));
  }

  std::vector<std::size_t> shape;
  T* data = nullptr;
  nb::capsule owner;
};

/// work(threads, keep_going) as other calls: without the interpreter's lock, and Ctrl-C stops it.
template <class Work>
auto watched(const GivenPoints& points, Work&& work) {
  Watched watch({nb::none()});
  auto answer = watch.run([&](const CompareObserver& observer) {
    return work(default_threads(), KeepGoing([&] { return observer({}); }));
  });
  require_unchanged(points);
  return answer;
}

Frame frame_by_name(const GivenPoints& points, const std::string& center, const std::string& scale,
                    bool normalize) {
  const Preprocessing prep{.center = named<Center>(center),
                           .scale = named<Scale>(scale),
                           .eta = 0,
                           .eta_relative = false,
                           .normalize = normalize};
  return watched(points, [&](int threads, const KeepGoing& keep_going) {
    return frame_of(points.here(), prep, threads, keep_going);
  });
}

std::size_t size_of(const GivenPoints& points) {
  return static_cast<std::size_t>(rows_of(points.here()));
}

nb::object load(const Frame& frame, const GivenPoints& points) {
  const Answer<double> rows({size_of(points), static_cast<std::size_t>(cols_of(points.here()))});
  load_in_frame(frame, points.here(), 0, rows_of(points.here()), rows.data);
  return rows.array();
}

/// Everything a frame is, for pickles.
using State = std::tuple<std::string, std::string, bool, std::vector<double>, std::vector<double>>;
State state_of(const Frame& f) {
  return {name_of(f.center), name_of(f.scale), f.normalize, f.deviation, f.mean};
}
void set_state(Frame& frame, const State& s) {
  new (&frame) Frame{.center = named<Center>(std::get<0>(s)),
                     .scale = named<Scale>(std::get<1>(s)),
                     .normalize = std::get<2>(s),
                     .deviation = std::get<3>(s),
                     .mean = std::get<4>(s)};
}

/// A number for each feature; None where there are none.
nb::object of_features(const std::vector<double>& numbers) {
  if (numbers.empty()) return nb::none();
  const Answer<double> copy({numbers.size()});
  std::copy(numbers.begin(), numbers.end(), copy.data);
  return copy.array();
}

void make_known(KnownPoints* self, const Frame& frame, const std::string& kernel, double gamma,
                int degree, double coef0, const NumberMatrix& vectors,
                const std::optional<NumberVector>& shift) {
  const std::span<const double> by = span_of(shift);
  const Kernel of{
      .type = named<KernelType>(kernel), .gamma = gamma, .degree = degree, .coef0 = coef0};
  new (self) KnownPoints(frame, of, copy_of(vectors), static_cast<Index>(vectors.shape(1)),
                         std::vector<double>(by.begin(), by.end()));
}

/// What Python holds as a map; refused where its sizes do not go together.
CodeMap map_of(const KnownPoints& known, const std::optional<NumberMatrix>& map, double extra,
               const std::optional<NumberVector>& offset) {
  CodeMap how{.codes = known.count(), .map = {}, .extra = extra, .offset = span_of(offset)};
  if (map) {
    how.codes = static_cast<Index>(map->shape(1));
    how.map = span_of(*map);
    if (static_cast<Index>(map->shape(0)) != known.count())
      throw Error("the map has not a row for each of the known points");
  }
  if (offset && static_cast<Index>(offset->size()) != how.codes)
    throw Error("the offset has not a number for each code");
  return how;
}

nb::object codes(const KnownPoints& known, const GivenPoints& points,
                 const std::optional<NumberMatrix>& map, double extra,
                 const std::optional<NumberVector>& offset) {
  const CodeMap how = map_of(known, map, extra, offset);
  checked_bytes(rows_of(points.here()), how.codes);
  const Answer<double> out({size_of(points), static_cast<std::size_t>(how.codes)});
  watched(points, [&](int threads, const KeepGoing& keep_going) {
    write_codes(NewPoints(known, points.here()), how, out.data, threads, keep_going);
    return true;
  });
  return out.array();
}

nb::object nearest_known(const KnownPoints& known, const GivenPoints& points,
                         const NumberVector& add, const NumberVector& times, double rounding) {
  const auto m = static_cast<std::size_t>(known.count());
  if (m < 1 || add.size() != m || times.size() != m)
    throw Error("a number for each of the known points is needed");
  const Answer<std::int64_t> out({size_of(points)});
  const double sum = watched(points, [&](int threads, const KeepGoing& keep_going) {
    return find_nearest(
        NewPoints(known, points.here()),
        {.add = add.data(), .times = times.data(), .count = known.count(), .rounding = rounding},
        out.data, threads, keep_going);
  });
  return nb::make_tuple(out.array(), sum);
}

nb::object shares(const KnownPoints& known, const GivenPoints& points,
                  const std::optional<NumberMatrix>& lower,
                  const std::optional<NumberVector>& squares) {
  const Index m = known.count(), n = rows_of(points.here());
  if (lower &&
      (static_cast<Index>(lower->shape(0)) != m || static_cast<Index>(lower->shape(1)) != m))
    throw Error("the factor has not a row and a column for each of the known points");
  if (squares ? static_cast<Index>(squares->size()) != n
              : known.given() && n != cols_of(points.here()))
    throw Error("the squared norms of the points are needed");
  const Shares found = watched(points, [&](int threads, const KeepGoing& keep_going) {
    return find_shares(NewPoints(known, points.here()), span_of(lower), span_of(squares), threads,
                       keep_going);
  });
  const Answer<double> explained({found.explained.size()});
  std::copy(found.explained.begin(), found.explained.end(), explained.data);
  return nb::make_tuple(explained.array(), found.total, found.rest);
}

/// The table of kernels: name, formula, and what they are.
nb::list kernel_table() {
  nb::list all;
  for (const KernelType type : values_of(KernelType{})) {
    const KernelFormula& formula = formula_of(type);
    nb::dict d;
    d["name"] = formula.name;
    d["about"] = formula.about;
    d["linear"] = formula.linear;
    d["normalize"] = formula.normalize;
    d["centered"] = formula.centered;
    d["has_gamma"] = formula.has_gamma;
    all.append(d);
  }
  return all;
}

}  // namespace

void bind_encoder(nb::module_& m) {
  nb::class_<Frame>(m, "Frame", "How points were scaled and centred, for new ones.")
      .def_static("of", frame_by_name, "points"_a, "center"_a, "scale"_a, "normalize"_a)
      .def("load", load, "points"_a)
      .def_prop_ro("deviation", [](const Frame& f) { return of_features(f.deviation); })
      .def_prop_ro("mean", [](const Frame& f) { return of_features(f.mean); })
      .def("__getstate__", state_of)
      .def("__setstate__", set_state);

  nb::class_<KnownPoints>(m, "KnownPoints",
                          "Some known points, or columns of a matrix, to compare with.")
      .def("__init__", make_known, "frame"_a, "kernel"_a, "gamma"_a, "degree"_a, "coef0"_a,
           "vectors"_a, "shift"_a.none() = nb::none())
      .def_static(
          "by_absolute_distance",
          [](const Frame& frame, const NumberMatrix& vectors) {
            return KnownPoints::by_absolute_distance(frame, copy_of(vectors),
                                                     static_cast<Index>(vectors.shape(1)));
          },
          "frame"_a, "vectors"_a)
      .def_static(
          "columns", [](std::vector<Index> columns) { return KnownPoints(std::move(columns)); },
          "columns"_a)
      .def("codes", codes, "points"_a, "map"_a.none() = nb::none(), "extra"_a = 0.0,
           "offset"_a.none() = nb::none())
      .def("nearest", nearest_known, "points"_a, "add"_a, "times"_a, "rounding"_a)
      .def("shares", shares, "points"_a, "lower"_a.none() = nb::none(),
           "squares"_a.none() = nb::none());

  m.def("kernels", kernel_table);
}

}  // namespace fwsr::python
