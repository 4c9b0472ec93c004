#include "apps/data_arguments.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/command.hpp"
#include "apps/machines.hpp"
#include "apps/option_list.hpp"
#include "apps/text.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/file_watch.hpp"
#include "fwsr/solver/select.hpp"

namespace fwsr::app {

namespace {

/// "A,B" into its parts; a name with a comma stands in double quotes.
std::vector<std::string> split_columns(const char* option, const std::string& text) {
  if (text.empty()) return {};
  std::vector<std::string> parts(1);
  bool inside = false;
  for (const char c : text) {
    if (c == '"') {
      inside = !inside;
    } else if (c == ',' && !inside) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (const std::string& part : parts)
    if (part.empty())
      throw UsageError(
          fmt::format("{} {} has an empty name; write names with one comma between them", option,
                      in_quotes(text)));
  return parts;
}

Header parse_header(const std::string& text) {
  if (text == "yes") return Header::yes;
  if (text == "no") return Header::no;
  if (text == "auto") return Header::automatic;
  throw UsageError(fmt::format("--header {} is not known; write yes, no or auto", in_quotes(text)));
}

}  // namespace

void add_data_arguments(CLI::App& app, DataArguments& a) {
  app.add_option("DATA", a.path,
                 machines() ? "file with one point per row, or many as 'part-*.npy': npy, idx, csv "
                              "or tsv, libsvm"
                            : "file with one point per row: npy, npz (also SciPy's sparse), csv or "
                              "tsv, libsvm, idx, mat; - reads csv or libsvm from standard input; "
                              "digits is a built-in set of 1797 images");
  const auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
    app.add_option(name, value, help)->type_name(type)->group("Reading");
  };
  add("--labels", a.labels, "FILE", "labels from a file of their own, one per point");
  add("--label-column", a.read.label_column, "NAME",
      "csv: the column with the labels, by name or by number from 1; npz, mat: the variable");
  add("--id-column", a.read.id_column, "NAME",
      "csv: the column with the names of the points; npz: the variable");
  add("--columns", a.columns, "A,B-D",
      "csv: use only these columns as features, names or numbers from 1, or ranges of either");
  add("--exclude-columns", a.exclude_columns, "A,B-D",
      "csv: use all columns as features but these, written in the same way");
  add("--header", a.header, "yes|no|auto",
      "csv: whether the first line names the columns; auto, the default, guesses, and the summary "
      "says why");
  add("--variable", a.read.variable, "NAME", "npz, mat: which array, when there are several");
  add("--name", a.name, "TEXT", "what the result calls the data (default: the name of the file)");
}

void add_threads_argument(CLI::App& app, DataArguments& a) {
  app.add_option_function<std::string>(
         "--threads",
         [&a](const std::string& text) {
           read_value("--threads", text, a.threads);
           if (a.threads < 1 || a.threads > 4096)
             throw UsageError(
                 fmt::format("--threads {} is out of range; write 1 to 4096", a.threads));
         },
         "how many threads to use (default: all cores); the answer does not depend on it")
      ->type_name("N")
      ->group("The machine");
}

void check_data_arguments(const CLI::App& app, DataArguments& a) {
  if (a.path.empty())
    throw UsageError(
        fmt::format("DATA is missing: name a file, or - for standard input; see {} "
                    "--help",
                    app.get_name()));
  refuse_both(app, "--labels", "--label-column", "labels come from one place, give one");
  for (const char* name : {"--labels", "--label-column", "--id-column", "--columns",
                           "--exclude-columns", "--variable", "--name"})
    if (app.count(name) > 0 && app.get_option(name)->as<std::string>().empty())
      throw UsageError(fmt::format("{} is given an empty value; write a name after it", name));
  if (a.path == "-" && a.labels == "-")
    throw UsageError("--labels - and DATA - both read standard input; put one into a file");
  a.read.header = parse_header(a.header);
  a.read.columns = split_columns("--columns", a.columns);
  a.read.exclude_columns = split_columns("--exclude-columns", a.exclude_columns);
  a.read.threads = threads_of(a);
}

int threads_of(const DataArguments& a) {
  return a.threads > 0 ? a.threads : default_threads();
}

Dataset load(const DataArguments& a) {
  return with_labels(a, must(read_dataset(a.path, a.read)));
}

Dataset with_labels(const DataArguments& a, Dataset data) {
  if (!a.name.empty()) data.name = a.name;
  if (a.labels.empty()) return data;
  data.labels = must(read_labels(a.labels, a.read.budget));
  const Index points = rows_of(data.view());
  if (static_cast<Index>(data.labels.size()) != points)
    throw Error(fmt::format("{}: holds {} but {} holds {}; give one label per point", a.labels,
                            counted(static_cast<Index>(data.labels.size()), "label"), data.name,
                            counted(points, "point")));
  return data;
}

std::vector<LabelCount> count_labels(const Labels& labels) {
  const std::vector<Index> counts = labels.counts();
  std::vector<LabelCount> all;
  for (std::size_t c = 0; c < counts.size(); ++c)
    if (counts[c] > 0) all.push_back({labels.names()[c], counts[c]});
  std::sort(all.begin(), all.end(),
            [](const LabelCount& a, const LabelCount& b) { return class_before(a.name, b.name); });
  return all;
}

std::string located(const Dataset& data, const std::string& message) {
  if (data.watch)
    if (const auto change = data.watch->find_change()) return *change;
  std::string where;
  const std::string word = "point ";
  const std::size_t at = message.find(word);
  if (!data.lines.empty() && at != std::string::npos) {
    std::size_t end = at + word.size();
    while (end < message.size() && message[end] >= '0' && message[end] <= '9') ++end;
    const auto point =
        parse_whole(std::string_view(message).substr(at + word.size(), end - at - word.size()));
    if (point && *point < static_cast<Index>(data.lines.size()))
      where = fmt::format("{}:", data.lines[static_cast<std::size_t>(*point)]);
  }
  if (message.starts_with(data.name + ":")) return message;
  return fmt::format("{}:{} {}", data.name, where, message);
}

}  // namespace fwsr::app
