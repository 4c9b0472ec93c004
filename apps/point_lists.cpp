#include "apps/point_lists.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "apps/command.hpp"
#include "apps/json.hpp"
#include "apps/text.hpp"
#include "fwsr/base/at.hpp"
#include "fwsr/data/csv_tokens.hpp"
#include "fwsr/data/read.hpp"

namespace fwsr::app {

namespace {

std::string_view text_of(const FileBytes& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

/// What a list of points says, entry by entry.
struct Entries {
  std::vector<std::string> words;
  bool rows = false;  // these are rows for certain, and no ids
};

/// The entries of the column `id` (where the points have ids) or `index` of a csv file with a header; nothing when the
/// file is no such table.
std::optional<Entries> column_of_picks(std::string_view text, bool ids, const std::string& path) {
  const std::string_view first = text.substr(0, text.find('\n'));
  const std::string_view word = first.substr(0, first.find('\r'));
  const bool header = word == "index" || (ids && word == "id");
  if (!header && first.find(',') == std::string_view::npos) return std::nullopt;
  Tokenizer fields(text, ',');
  std::vector<std::string> names;
  for (bool last = false; !last;) {
    const Field field = fields.next();
    names.push_back(field.value());
    last = field.last || field.problem;
  }
  auto wanted = std::find(names.begin(), names.end(), ids ? "id" : "index");
  if (wanted == names.end()) wanted = std::find(names.begin(), names.end(), "index");
  if (wanted == names.end())
    throw Error(fmt::format(
        "{}: the first line has several columns, and none is called {}index; write one point a "
        "line, or a header with that name",
        path, ids ? "id or " : ""));
  Entries found{.words = {}, .rows = *wanted == "index"};
  while (fields.skip_blank_lines(), !fields.at_end()) {
    std::vector<std::string> record;
    const std::int64_t line = fields.line();
    for (bool last = false; !last;) {
      const Field field = fields.next();
      if (field.problem) throw Error(fmt::format("{}:{}: {}", path, line, field.problem));
      record.push_back(field.value());
      last = field.last;
    }
    if (record.size() != names.size())
      throw Error(fmt::format("{}:{}: {} fields, and the header has {}", path, line, record.size(),
                              names.size()));
    found.words.push_back(record[static_cast<std::size_t>(wanted - names.begin())]);
  }
  return found;
}

/// The exemplars of a result that `fwsr select --json` wrote.
Entries entries_of_result(std::string_view text, bool ids, const std::string& path) {
  const Json json = Json::parse(text, nullptr, false);
  const char* const key = ids && json.is_object() && json.contains("ids") ? "ids" : "exemplars";
  if (!json.is_object() || !json.contains(key) || !json[key].is_array())
    throw Error(
        fmt::format("{}: is no result of fwsr select --json: it has no list {}", path, key));
  Entries found{.words = {}, .rows = key == std::string_view("exemplars")};
  // Exemplars behind the points of the data came from other files (old_result.hpp).
  const Json conditions = json.value("conditions", Json());
  const Json own = conditions.is_object() ? conditions.value("points", Json()) : Json();
  for (std::size_t e = 0; e < json[key].size(); ++e) {
    const Json& one = json[key][e];
    if (own.is_number_integer() && json.contains("exemplars") && json["exemplars"].is_array() &&
        e < json["exemplars"].size() && json["exemplars"][e].is_number_integer() &&
        json["exemplars"][e].get<Index>() >= own.get<Index>())
      continue;
    found.words.push_back(one.is_string() ? one.get<std::string>() : one.dump());
  }
  return found;
}

Entries entries_of(const std::string& path, bool ids) {
  FileBytes file = must(FileBytes::open(path));
  const std::string_view text = text_of(file);
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return {};
  if (text[start] == '{') return entries_of_result(text, ids, path);
  if (looks_like_text(file.bytes()))
    if (auto column = column_of_picks(text, ids, path)) return std::move(*column);
  return {.words = must(read_labels(std::move(file))).words(), .rows = false};
}

/// Which points have an id: of those that several have, all but the first are `repeated`.
struct Ids {
  std::unordered_map<std::string_view, Index> places, repeated;
  bool numbers = false;  // some id reads as a row: a number that is no id is a mistake, not a row

  explicit Ids(const std::vector<std::string>& ids) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      numbers = numbers || parse_whole(ids[i]);
      if (!places.emplace(ids[i], static_cast<Index>(i)).second)
        repeated.emplace(ids[i], static_cast<Index>(i));
    }
  }
};

}  // namespace

std::vector<Index> read_point_list(const std::string& path, const Dataset& data) {
  const Index n = rows_of(data.view());
  const Ids ids(data.ids);
  const Entries entries = entries_of(path, !data.ids.empty());
  std::vector<Index> found;
  Index entry = 0;
  for (const std::string& word : entries.words) {
    ++entry;
    if (const auto place = ids.places.find(word); place != ids.places.end() && !entries.rows) {
      if (const auto other = ids.repeated.find(word); other != ids.repeated.end())
        throw Error(fmt::format(
            "{}: entry {} is {}, which is the id of rows {} and {}, at least; ids must name one "
            "point each, or list rows in a column with the header index",
            path, entry, in_quotes(word), place->second, other->second));
      found.push_back(place->second);
      continue;
    }
    if (ids.numbers && !entries.rows)
      throw Error(fmt::format(
          "{}: entry {} is {}, which is no id of a point; the ids are numbers, so that this is not "
          "taken for a row: list rows in a column with the header index",
          path, entry, in_quotes(word)));
    const auto index = parse_whole(word);
    if (!index)
      throw Error(fmt::format("{}: entry {} is {}, which is {}", path, entry, in_quotes(word),
                              data.ids.empty() ? "no row; write rows as numbers from 0"
                                               : "neither an id of a point nor a row"));
    if (*index < 0 || *index >= n)
      throw Error(fmt::format("{}: entry {} is row {}, but {} has rows 0 to {}", path, entry,
                              *index, data.name, n - 1));
    found.push_back(*index);
  }
  return found;
}

Labels read_words(const std::string& path, const char* what) {
  FileBytes file = must(FileBytes::open(path));
  if (text_of(file).find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw Error(fmt::format("{}: is empty; it needs a {} for every point, one a line", path, what));
  return must(read_labels(std::move(file)));
}

std::vector<double> read_numbers(const std::string& path, const char* what, const Dataset& data) {
  const Labels words = read_words(path, what);
  const Index n = rows_of(data.view());
  if (static_cast<Index>(words.size()) != n)
    throw Error(fmt::format("{}: holds {} but {} holds {}; give one {} per point", path,
                            counted(static_cast<Index>(words.size()), what), data.name,
                            counted(n, "point"), what));
  std::vector<double> numbers;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto number = parse_number(words[i]);
    if (!number)
      throw Error(fmt::format("{}: the {} of point {} is {}, which is no number", path, what, i,
                              in_quotes(words[i])));
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace fwsr::app
