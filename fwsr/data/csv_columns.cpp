#include "fwsr/data/csv_columns.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>

#include <fmt/format.h>

#include "fwsr/data/text.hpp"

namespace fwsr {

Result<Index> find_column(const std::string& column, Index fields,
                          const std::vector<std::string>& names) {
  const auto named = std::find(names.begin(), names.end(), column);
  if (named != names.end()) {
    if (std::find(named + 1, names.end(), column) != names.end())
      return Failure{fmt::format("several columns are named {}; give the column's number, from 1",
                                 show(column))};
    return named - names.begin();
  }
  Index number = 0;
  const auto [end, code] = std::from_chars(column.data(), column.data() + column.size(), number);
  if (is_whole_number(column)) {
    if (code == std::errc{} && number >= 1 && number <= fields) return number - 1;
    return Failure{fmt::format("there is no column {}; the columns are 1 to {}", column, fields)};
  }
  if (names.empty())
    return Failure{
        fmt::format("there is no column {}, for the file was read without a header; "
                    "give the column's number, 1 to {}",
                    show(column), fields)};
  return Failure{fmt::format("there is no column {}; the columns are {}", show(column),
                             list_shortened(names))};
}

Result<std::vector<Index>> find_columns(const std::string& columns, Index fields,
                                        const std::vector<std::string>& names) {
  Result<Index> one = find_column(columns, fields, names);
  if (one) return std::vector<Index>{*one};
  // A name may hold a hyphen itself: the first one that stands between two columns counts.
  for (std::size_t hyphen = columns.find('-', 1); hyphen < columns.size() - 1;
       hyphen = columns.find('-', hyphen + 1)) {
    const std::string left = columns.substr(0, hyphen), right = columns.substr(hyphen + 1);
    const Result<Index> first = find_column(left, fields, names);
    const Result<Index> last = find_column(right, fields, names);
    if (first && last && *first > *last)
      return Failure{fmt::format("the range of columns {} runs backwards; write {}-{}",
                                 show(columns), right, left)};
    if (first && last) {
      std::vector<Index> all(static_cast<std::size_t>(*last - *first + 1));
      std::iota(all.begin(), all.end(), *first);
      return all;
    }
    if (is_whole_number(left) && is_whole_number(right))
      return first ? last.error() : first.error();
  }
  return one.error();
}

namespace {

/// Needs no quotes, in a list with commas and in a shell.
bool is_plain(const std::string& name) {
  return !name.empty() && name.size() <= 40 && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return c < 0x80 && (std::isalnum(c) || c == '_' || c == '.' || c == '-');
         });
}

/// "2-4" and "7" for 1, 2, 3 and 6.
std::vector<std::string> as_ranges(const std::vector<Index>& fields) {
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < fields.size();) {
    std::size_t end = i + 1;
    while (end < fields.size() && fields[end] == fields[end - 1] + 1) ++end;
    ranges.push_back(end - i < 2 ? fmt::format("{}", fields[i] + 1)
                                 : fmt::format("{}-{}", fields[i] + 1, fields[end - 1] + 1));
    i = end;
  }
  return ranges;
}

bool mean(const std::vector<std::string>& words, const std::vector<Index>& fields, Index all,
          const std::vector<std::string>& names) {
  std::vector<Index> meant;
  for (const std::string& word : words) {
    const auto found = find_columns(word, all, names);
    if (!found) return false;
    meant.insert(meant.end(), found->begin(), found->end());
  }
  return meant == fields;
}

}  // namespace

std::string exclusion_of(const std::vector<Index>& fields, Index all,
                         const std::vector<std::string>& names, bool by_number) {
  constexpr std::size_t most = 12;
  std::vector<std::string> words;
  for (const Index f : fields)
    if (!names.empty()) words.push_back(names[static_cast<std::size_t>(f)]);
  const bool by_name = !by_number && !words.empty() && words.size() <= most &&
                       std::all_of(words.begin(), words.end(), is_plain) &&
                       mean(words, fields, all, names);
  if (!by_name) {
    words = as_ranges(fields);
    if (words.size() > 4 * most || !mean(words, fields, all, names)) return "";
  }
  return fmt::format("--exclude-columns {} (in Python exclude_columns=['{}'])",
                     fmt::join(words, ","), fmt::join(words, "', '"));
}

}  // namespace fwsr
