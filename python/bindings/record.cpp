#include "python/bindings/record.hpp"

#include <utility>
#include <vector>

#include <nanobind/stl/vector.h>

#include "fwsr/solver/check_record.hpp"
#include "python/bindings/watched.hpp"

namespace fwsr::python {

namespace {

using namespace nb::literals;

nb::dict to_python(const RecordedExchange& e) {
  nb::dict d;
  d["exemplars"] = e.exemplars;
  d["exemplars_of_exchange"] = e.exemplars_of_exchange;
  d["rounds"] = e.rounds;
  d["exchanges"] = e.exchanges;
  d["before"] = e.before;
  d["after"] = e.after;
  d["local_optimum"] = e.local_optimum;
  d["refused"] = e.refused;
  d["fruitless"] = e.fruitless;
  d["middle_rounds"] = e.middle_rounds;
  d["moves"] = e.moves;
  d["in_the_middle"] = e.in_the_middle;
  return d;
}

RecordedExchange exchange_of(const nb::dict& d) {
  const auto list = [&](const char* name) { return nb::cast<std::vector<Index>>(d[name]); };
  const auto whole = [&](const char* name) { return nb::cast<Index>(d[name]); };
  const auto number = [&](const char* name) { return nb::cast<double>(d[name]); };
  const auto yes = [&](const char* name) { return nb::cast<bool>(d[name]); };
  return {.exemplars = list("exemplars"),
          .exemplars_of_exchange = list("exemplars_of_exchange"),
          .rounds = whole("rounds"),
          .exchanges = whole("exchanges"),
          .before = number("before"),
          .after = number("after"),
          .local_optimum = yes("local_optimum"),
          .refused = list("refused"),
          .fruitless = whole("fruitless"),
          .middle_rounds = whole("middle_rounds"),
          .moves = whole("moves"),
          .in_the_middle = yes("in_the_middle")};
}

RunRecord record_of(const nb::dict& d) {
  RunRecord record{
      .f_at_zero = nb::cast<double>(d["f_at_zero"]), .steps = {}, .exchange = std::nullopt};
  for (const nb::handle step : nb::cast<nb::list>(d["steps"]))
    record.steps.push_back({.pick = nb::cast<Index>(step[0]),
                            .score = nb::cast<double>(step[1]),
                            .f = nb::cast<double>(step[2]),
                            .row = nb::cast<std::uint64_t>(step[3]),
                            .rescored = nb::cast<bool>(step[4])});
  if (!d["exchange"].is_none()) record.exchange = exchange_of(nb::cast<nb::dict>(d["exchange"]));
  return record;
}

}  // namespace

Record::Record(const nb::object& known, Index n, double seconds, nb::object write)
    : seconds_(seconds), write_(std::move(write)) {
  if (known.is_none()) return;
  known_ = record_of(nb::cast<nb::dict>(known));
  check_record(known_, n);
  all_ = known_;
}

void Record::begin(double f_at_zero) {
  all_.f_at_zero = f_at_zero;
  begun_ = true;
}

void Record::step(const RecordedStep& step) {
  all_.steps.push_back(step);
  write_now_and_then();
}

void Record::exchange(const RecordedExchange& state) {
  all_.exchange = state;
  write_now_and_then();
}

void Record::write_now_and_then() {
  if (std::chrono::duration<double>(Clock::now() - written_).count() < seconds_) return;
  if (Live::ending()) return;  // its lock must not be asked for
  const nb::gil_scoped_acquire acquired;
  write_(as_python());
  written_ = Clock::now();
}

nb::object Record::as_python() const {
  if (!begun_) return nb::none();
  nb::dict d;
  nb::list steps;
  for (const RecordedStep& s : all_.steps) {
    nb::list one;
    one.append(s.pick);
    one.append(s.score);
    one.append(s.f);
    one.append(s.row);
    one.append(s.rescored);
    steps.append(one);
  }
  d["f_at_zero"] = all_.f_at_zero;
  d["steps"] = steps;
  d["exchange"] = all_.exchange ? nb::object(to_python(*all_.exchange)) : nb::none();
  return d;
}

void bind_record(nb::module_& m) {
  nb::class_<Record>(m, "Record", "What a run decides, for checkpoints.")
      .def(nb::init<const nb::object&, Index, double, nb::object>(), "known"_a.none(), "points"_a,
           "seconds"_a, "write"_a)
      .def("as_python", &Record::as_python);
}

}  // namespace fwsr::python
