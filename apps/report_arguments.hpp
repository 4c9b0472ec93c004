// The arguments of the HTML page, and how what they name is read.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/data_arguments.hpp"
#include "apps/destination.hpp"
#include "fwsr/report/page.hpp"

namespace CLI {
class App;
}

namespace fwsr::app {

struct ReportArguments {
  std::string path;
  std::string images;                     // "28x28"
  std::string image_column, text_column;  // of DATA
  std::string map_columns;                // "A,B"
  std::string command;                    // this one, as sh takes it
  std::vector<std::string> words;         // its words

  bool wanted() const { return !path.empty(); }
};

/// `map`: the page has one.
void add_report_arguments(CLI::App& app, ReportArguments& a, bool map);

/// Refuses what contradicts itself, and has columns that are shown left out of the features. Call after parsing.
/// @throws UsageError
void check_report_arguments(const CLI::App& app, ReportArguments& a, DataArguments& data, int argc,
                            const char* const* argv);

/// What the page knows of the points beside their numbers, where it does not stand in the Dataset.
struct RowsShown {
  std::vector<std::string> texts, pictures;
  std::vector<Index> axes;  // features
  std::optional<report::ImageShape> images;
};
/// Reads columns of DATA once more. Before the work: @throws Error for a shape or a column that does not suit the data.
RowsShown read_rows_shown(const ReportArguments& a, const DataArguments& from, const Dataset& data);

/// All that is borrowed must outlive the answer.
report::Rows rows_of_page(const Dataset& data, const RowsShown& shown);

/// The main result, and beside it the page where one was asked for: both, or neither. How large the page is, is told
/// before, and a page of `data` that has changed meanwhile is not written.
void write_with_report(const ReportArguments& a, bool quiet, const Dataset& data,
                       const std::function<std::string()>& make_page, Output result);

/// "fwsr: page.html: a page of 312 kB".
std::string report_line(const ReportArguments& a, std::size_t bytes);

}  // namespace fwsr::app
