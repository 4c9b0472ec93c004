// Writers of answers by the end of a file's name: a format is one file, and one line of a table.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace fwsr::app {

/// What a file of this format is called.
struct FileFormat {
  const char* suffix;  // of its name, with the point: ".csv"
  const char* name;    // in sentences: "CSV"
};

struct WriteStyle {
  bool quote_formulas =
      false;  // csv: text that a spreadsheet would take for a formula has an apostrophe in front
};

/// One line of a table: how an `Answer` is written in a format.
template <class Answer>
struct Writer {
  FileFormat format;
  void (*write)(std::ostream& out, const Answer& answer, const WriteStyle& style);
};
/// A table. The first line is for names that end in no known way.
template <class Answer>
using Writers = std::vector<Writer<Answer>>;

/// The place among `formats` of the main result (-o): the one named `asked` (empty: nobody asked), else by the end of the
/// file's name, else the first.
/// @throws UsageError, with the formats there are, for a name that ends as another kind of file does
std::size_t place_of_result(const std::vector<FileFormat>& formats, const std::string& path,
                            std::string_view asked);
/// The same of another output, whose name must end as one of them does; `option` begins the message.
std::size_t place_of_output(const std::vector<FileFormat>& formats, const std::string& path,
                            const std::string& option);

template <class Answer>
std::vector<FileFormat> formats_of(const Writers<Answer>& table) {
  std::vector<FileFormat> formats;
  for (const Writer<Answer>& writer : table) formats.push_back(writer.format);
  return formats;
}
template <class Answer>
const Writer<Answer>& writer_of_result(const Writers<Answer>& table, const std::string& path,
                                       bool json) {
  return table[place_of_result(formats_of(table), path, json ? "JSON" : "")];
}
template <class Answer>
const Writer<Answer>& writer_of_output(const Writers<Answer>& table, const std::string& path,
                                       const std::string& option) {
  return table[place_of_output(formats_of(table), path, option)];
}

/// Whether the main result is to be JSON: asked for by --json, or by the name of the file.
template <class Answer>
bool is_json(const Writer<Answer>& writer) {
  return std::string_view(writer.format.name) == "JSON";
}

}  // namespace fwsr::app
