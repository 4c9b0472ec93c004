#include "apps/report_arguments.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/command.hpp"
#include "apps/file_fault.hpp"
#include "apps/run_arguments.hpp"
#include "apps/summary.hpp"
#include "apps/text.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/report/text.hpp"

namespace fwsr::app {

namespace {

constexpr const char* group = "The page";

/// A column of DATA as words: the file is read once more.
std::vector<std::string> words_in_column(const DataArguments& from, const std::string& column,
                                         const Dataset& data) {
  DataArguments own = from;
  // One feature is enough: the words are what is wanted.
  if (!data.columns.empty() && data.columns.front() != column)
    own.read.columns = {data.columns.front()};
  own.labels.clear();
  for (std::string* other : {&own.read.label_column, &own.read.id_column}) {
    if (own.read.columns.empty() && !other->empty() && *other != column)
      own.read.exclude_columns.push_back(*other);
    other->clear();
  }
  own.read.id_column = column;
  return load(own).ids;
}

/// Paths are as given, or from the folder of the data.
std::string found_from(const std::string& path, const std::string& data) {
  namespace fs = std::filesystem;
  std::error_code code;
  if (fs::path(path).is_absolute() || fs::exists(path, code)) return path;
  const fs::path beside = fs::path(data).parent_path() / path;
  return fs::exists(beside, code) ? beside.string() : path;
}

/// The feature that a name or a number from 1 means.
Index find_feature(const std::string& name, const Dataset& data) {
  const auto named = std::find(data.columns.begin(), data.columns.end(), name);
  if (named != data.columns.end()) return named - data.columns.begin();
  const auto number = parse_whole(name);
  if (number && *number >= 1 && *number <= cols_of(data.view())) return *number - 1;
  throw UsageError(fmt::format(
      "--map-columns: {} is no feature of {}; write two of its names, or numbers from 1 to {}",
      in_quotes(name), data.name, cols_of(data.view())));
}

}  // namespace

void add_report_arguments(CLI::App& app, ReportArguments& a, bool map) {
  const auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
    app.add_option(name, value, help)->type_name(type)->group(group);
  };
  add("--report", a.path, "FILE",
      "also write a page to look at, one HTML file that needs nothing else: what was chosen, what "
      "it "
      "stands for and what it misses");
  add("--images", a.images, "SHAPE",
      "points are images of this shape: 28x28, 32x32x3, or 3x32x32 for colours one after the other "
      "(idx images and digits are known to be)");
  add("--image-column", a.image_column, "NAME",
      "csv: a column with files of pictures, png or jpeg");
  add("--text-column", a.text_column, "NAME", "csv: a column with the text of each point");
  if (map)
    add("--map-columns", a.map_columns, "A,B",
        "two features for the map, by name or by number from 1 (default: principal components)");
}

void check_report_arguments(const CLI::App& app, ReportArguments& a, DataArguments& data, int argc,
                            const char* const* argv) {
  for (const char* name :
       {"--report", "--images", "--image-column", "--text-column", "--map-columns"}) {
    if (!app.get_option_no_throw(name) || app.count(name) == 0) continue;
    if (app.get_option(name)->as<std::string>().empty())
      throw UsageError(fmt::format("{} is given an empty value; write something after it", name));
    if (!a.wanted())
      throw UsageError(
          fmt::format("{} is of the page; add --report page.html, or leave it out", name));
  }
  refuse_both(app, "--images", "--image-column", "pictures come from one place, give one");
  refuse_both(app, "--images", "--text-column", "a point is shown in one way, give one");
  refuse_both(app, "--image-column", "--text-column", "a point is shown in one way, give one");
  if (!a.wanted()) return;
  if (!a.images.empty())
    if (const auto shape = report::parse_image_shape(a.images); !shape)
      throw UsageError("--images " + shape.error().message);
  if (!a.map_columns.empty() && std::count(a.map_columns.begin(), a.map_columns.end(), ',') != 1)
    throw UsageError(
        fmt::format("--map-columns {} are not two; write A,B", in_quotes(a.map_columns)));
  for (const std::string* column : {&a.image_column, &a.text_column}) {
    if (column->empty()) continue;
    if (data.path == "-")
      throw UsageError(
          "columns of texts and pictures are read by themselves, which standard input cannot be; "
          "put "
          "it into a file");
    if (data.read.columns.empty() && *column != data.read.id_column)
      data.read.exclude_columns.push_back(*column);
  }
  a.words = {"fwsr"};
  for (int i = 0; i < argc; ++i) a.words.emplace_back(argv[i]);
  for (const std::string& word : a.words)
    a.command += fmt::format("{}{}", a.command.empty() ? "" : " ", report::shell_word(word));
}

RowsShown read_rows_shown(const ReportArguments& a, const DataArguments& from,
                          const Dataset& data) {
  RowsShown shown;
  if (!a.wanted()) return shown;
  if (!a.text_column.empty()) shown.texts = words_in_column(from, a.text_column, data);
  if (!a.image_column.empty())
    for (const std::string& path : words_in_column(from, a.image_column, data))
      shown.pictures.push_back(found_from(path, from.path));
  if (data.image.size() == 2 && shown.texts.empty() && shown.pictures.empty())
    shown.images = report::ImageShape{.height = data.image[0], .width = data.image[1]};
  if (!a.images.empty()) shown.images = *report::parse_image_shape(a.images);
  if (shown.images && shown.images->size() != cols_of(data.view()))
    throw UsageError(fmt::format("--images {} has {} pixels, and the points of {} have {} features",
                                 a.images, shown.images->size(), data.name, cols_of(data.view())));
  if (const std::size_t comma = a.map_columns.find(','); comma != std::string::npos)
    for (const std::string& name :
         {a.map_columns.substr(0, comma), a.map_columns.substr(comma + 1)})
      shown.axes.push_back(find_feature(name, data));
  return shown;
}

report::Rows rows_of_page(const Dataset& data, const RowsShown& shown) {
  return {.name = data.name,
          .points = data.view(),
          .labels = &data.labels,
          .ids = data.ids,
          .texts = shown.texts,
          .pictures = shown.pictures,
          .columns = data.columns,
          .images = shown.images};
}

void write_with_report(const ReportArguments& a, bool quiet, const Dataset& data,
                       const std::function<std::string()>& make_page, Output result) {
  std::string page;
  if (a.wanted())
    on_data(data, [&] {
      page = make_page();
      refuse_if_changed(data);
    });
  std::vector<Output> outputs;
  if (a.wanted()) outputs.push_back({a.path, [&](std::ostream& out) { out << page; }});
  if (a.wanted() && !quiet) write_stderr(report_line(a, page.size()));
  outputs.push_back(std::move(result));
  write_results(outputs);
}

std::string report_line(const ReportArguments& a, std::size_t bytes) {
  return fmt::format("fwsr: {}: a page of {}\n", shown(a.path),
                     format_bytes(static_cast<double>(bytes)));
}

}  // namespace fwsr::app
