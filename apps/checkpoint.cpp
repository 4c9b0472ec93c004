#include "apps/checkpoint.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/command.hpp"
#include "apps/option_list.hpp"
#include "apps/result_json.hpp"
#include "apps/summary.hpp"
#include "apps/text.hpp"
#include "fwsr/base/write_file.hpp"
#include "fwsr/solver/check_record.hpp"

namespace fwsr::app {

namespace {

constexpr int checkpoint_schema = 2;
constexpr const char* python_schema = "python 1";  // python/fwsr/_checkpoint.py

/// FNV-1a over everything that conditions say of single points and groups.
class Mark {
 public:
  template <class T>
  Mark& add(const std::vector<T>& values) {
    add(static_cast<std::uint64_t>(values.size()));
    for (const T& v : values) {
      if constexpr (std::is_same_v<T, double>)
        add(std::bit_cast<std::uint64_t>(v));
      else
        add(static_cast<std::uint64_t>(v));
    }
    return *this;
  }
  Mark& add(const std::string& text) { return add(std::vector<char>(text.begin(), text.end())); }
  std::uint64_t value() const { return value_; }

 private:
  void add(std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte)
      value_ = (value_ ^ (word >> (8 * byte) & 0xff)) * 0x100000001b3;
  }
  std::uint64_t value_ = 0xcbf29ce484222325;
};

std::uint64_t mark_of(const Conditions& c) {
  Mark mark;
  mark.add(c.candidates).add(c.included).add(c.weights).add(c.costs);
  mark.add(std::vector<Index>(c.groups.codes().begin(), c.groups.codes().end()));
  for (const std::string& name : c.groups.names()) {
    mark.add(name);
    mark.add(std::vector<Index>{c.at_least.of(name).value_or(-1), c.at_most.of(name).value_or(-1)});
  }
  return mark.value();
}

Json request_json(const SelectResult& result) {
  Json json = asked_json(result);
  json.erase("time_limit");  // what a clock cut short may go on
  const PointsView points = result.data.view();
  json["points"] = rows_of(points);
  json["features"] = cols_of(points);
  json["numbers"] = number_name(points);
  if (!result.request.options.conditions.empty())
    json["conditions"] = mark_of(result.request.options.conditions);
  return json;
}

/// Of all else in the file: who goes on from a file that was damaged would be told wrong counts, or worse.
std::uint64_t sum_of(Json json) {
  json.erase("sum");
  return Mark().add(json.dump()).value();
}

/// The first thing that two requests differ in.
std::string difference(const Json& there, const Json& here) {
  for (const auto& [key, value] : here.items()) {
    const Json other = there.contains(key) ? there[key] : Json();
    if (other != value)
      return fmt::format("{} is {} there and {} here", key, other.dump(), value.dump());
  }
  for (const auto& [key, value] : there.items())
    if (!here.contains(key))
      return fmt::format("{} is {} there and not given here", key, value.dump());
  return "";
}

Json json_of_exchange(const RecordedExchange& e) {
  return {{"exemplars", e.exemplars},
          {"exemplars_of_exchange", e.exemplars_of_exchange},
          {"rounds", e.rounds},
          {"exchanges", e.exchanges},
          {"before", e.before},
          {"after", e.after},
          {"local_optimum", e.local_optimum},
          {"refused", e.refused},
          {"fruitless", e.fruitless},
          {"middle_rounds", e.middle_rounds},
          {"moves", e.moves},
          {"in_the_middle", e.in_the_middle}};
}

RecordedExchange exchange_of(const Json& json) {
  return {.exemplars = json.at("exemplars").get<std::vector<Index>>(),
          .exemplars_of_exchange = json.at("exemplars_of_exchange").get<std::vector<Index>>(),
          .rounds = json.at("rounds").get<Index>(),
          .exchanges = json.at("exchanges").get<Index>(),
          .before = json.at("before").get<double>(),
          .after = json.at("after").get<double>(),
          .local_optimum = json.at("local_optimum").get<bool>(),
          .refused = json.at("refused").get<std::vector<Index>>(),
          .fruitless = json.at("fruitless").get<Index>(),
          .middle_rounds = json.at("middle_rounds").get<Index>(),
          .moves = json.at("moves").get<Index>(),
          .in_the_middle = json.at("in_the_middle").get<bool>()};
}

/// Whether there is a file of this name that would be lost if a checkpoint took its place.
bool is_something_else(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code) || std::filesystem::file_size(path, code) == 0)
    return false;
  constexpr std::string_view begin = R"({"checkpoint":)";  // as all begin, those of Python too
  std::string found(begin.size(), '\0');
  std::ifstream(path, std::ios::binary)
      .read(found.data(), static_cast<std::streamsize>(found.size()));
  return found != begin;
}

}  // namespace

void add_checkpoint_arguments(CLI::App& app, CheckpointArguments& a) {
  app.add_option(
         "--checkpoint", a.path,
         "write down now and then what was decided so far; with --resume a later run goes on "
         "from there, to the same answer")
      ->type_name("FILE")
      ->group("The machine");
  app.add_option_function<std::string>(
         "--checkpoint-seconds",
         [&a](const std::string& text) {
           read_value("--checkpoint-seconds", text, a.seconds);
           if (!(a.seconds >= 0)) throw UsageError("--checkpoint-seconds must be 0 or more");
         },
         "how often (default 30; 0: after every step)")
      ->type_name("N")
      ->group("The machine");
  app.add_flag("--resume", a.resume, "go on from the checkpoint, where there is one")
      ->group("The machine");
}

void check_checkpoint_arguments(const CLI::App& app, const CheckpointArguments& a,
                                const Request& request, bool per_class) {
  if (app.count("--checkpoint") > 0 && a.path.empty())
    throw UsageError("--checkpoint is given an empty name; name a file");
  if (a.path.empty() && (a.resume || app.count("--checkpoint-seconds") > 0))
    throw UsageError("--resume and --checkpoint-seconds belong to --checkpoint FILE; name one");
  if (a.path.empty()) return;
  if (a.path == "-") throw UsageError("--checkpoint - is no file; name one");
  if (!a.resume && is_something_else(a.path))  // else `read` looks at all of it
    throw UsageError(fmt::format(
        "--checkpoint {0}: {0} is there already, and no checkpoint; name another file", a.path));
  if (per_class)
    throw UsageError("a checkpoint is of one run; leave --checkpoint or --per-class out");
  if (!is_solver(*request.method))
    throw UsageError(fmt::format(
        "a checkpoint is of exchange, fwsr and k-fwsr; leave it out for {}", request.method->name));
}

Checkpoint::Checkpoint(const CheckpointArguments& a, const SelectResult& of)
    : a_(a), request_(request_json(of)) {
  if (a_.resume) read();
  all_ = known_;
}

void Checkpoint::read() {
  std::error_code code;
  if (!std::filesystem::exists(a_.path, code)) {
    write_stderr(fmt::format("fwsr: there is no {} yet: the run begins anew\n", a_.path));
    return;
  }
  std::ifstream file(a_.path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw OtherFileError(a_.path + ": cannot be read");
  try {
    const Json json = Json::parse(text.str());
    if (json.at("checkpoint") == python_schema)
      throw Error("it was written by fwsr.select of Python, where it can be gone on from");
    if (json.at("checkpoint") != checkpoint_schema || json.at("fwsr") != version_number())
      throw Error(fmt::format("it was written by fwsr {}, and this is {}",
                              json.at("fwsr").get<std::string>(), version_number()));
    if (json.at("sum") != sum_of(json)) throw Error("it was altered or damaged");
    if (const std::string other = difference(json.at("request"), request_); !other.empty())
      throw Error("it is of another request: " + other);
    known_.f_at_zero = json.at("f_at_zero").get<double>();
    for (const Json& step : json.at("steps"))
      known_.steps.push_back({.pick = step.at(0).get<Index>(),
                              .score = step.at(1).get<double>(),
                              .f = step.at(2).get<double>(),
                              .row = step.at(3).get<std::uint64_t>(),
                              .rescored = step.at(4).get<bool>()});
    if (!json.at("exchange").is_null()) known_.exchange = exchange_of(json.at("exchange"));
    check_record(known_, request_.at("points").get<Index>());
  } catch (const Json::exception&) {
    throw OtherFileError(
        fmt::format("{}: is no checkpoint; name another file, or leave --resume out", a_.path));
  } catch (const OtherFileError&) {
    throw;
  } catch (const Error& e) {
    throw OtherFileError(fmt::format(
        "{}: cannot be gone on from: {}; leave --resume out to begin anew", a_.path, e.what()));
  }
}

void Checkpoint::begin(double f_at_zero) {
  all_.f_at_zero = f_at_zero;
}

void Checkpoint::step(const RecordedStep& step) {
  all_.steps.push_back(step);
  write_now_and_then();
}

void Checkpoint::exchange(const RecordedExchange& state) {
  all_.exchange = state;
  write_now_and_then();
}

void Checkpoint::write_now_and_then() {
  if (seconds_since(written_) >= a_.seconds) write();
}

void Checkpoint::write() {
  Json steps = Json::array();
  for (const RecordedStep& s : all_.steps)
    steps.push_back(Json::array({s.pick, s.score, s.f, s.row, s.rescored}));
  Json json = {{"checkpoint", checkpoint_schema},
               {"fwsr", version_number()},
               {"request", request_},
               {"f_at_zero", all_.f_at_zero},
               {"steps", std::move(steps)},
               {"exchange", all_.exchange ? json_of_exchange(*all_.exchange) : Json()}};
  json["sum"] = sum_of(json);
  const auto written = write_whole(a_.path, [&](std::ostream& out) { out << json.dump() << '\n'; });
  if (!written)
    write_stderr(fmt::format("fwsr: warning: no checkpoint could be written: {}\n",
                             written.error().message));
  written_ = Clock::now();
}

}  // namespace fwsr::app
