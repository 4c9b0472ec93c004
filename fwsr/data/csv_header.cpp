#include "fwsr/data/csv_header.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace fwsr {

namespace {

std::optional<Index> whole(std::string_view text) {
  Index value = 0;
  if (!is_whole_number(text)) return std::nullopt;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{}) return std::nullopt;
  return value;
}

/// The whole numbers of a record from field `from` on; empty when some are no whole numbers.
template <class Text>
std::vector<Index> whole_numbers(const std::vector<Text>& record, std::size_t from) {
  std::vector<Index> numbers;
  for (std::size_t f = from; f < record.size(); ++f) {
    const auto number = whole(record[f]);
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

bool counts_up(const std::vector<Index>& numbers) {
  for (std::size_t f = 1; f < numbers.size(); ++f)
    if (numbers[f] != numbers[f - 1] + 1) return false;
  return !numbers.empty();
}

/// Whether a record may be a point like `first`, which counts up.
bool is_of_its_kind(const std::vector<Index>& first, std::vector<Index> other) {
  if (other.empty()) return false;
  if (counts_up(other)) return true;
  std::size_t equal = 0;
  for (std::size_t f = 0; f < first.size(); ++f) equal += first[f] == other[f];
  std::sort(other.begin(), other.end());
  return other == first || 2 * equal > first.size();
}

}  // namespace

HeaderGuess guess_from_numbers(const Opening& o) {
  HeaderGuess none{false, "its first line holds numbers"};
  // ",0,1,2": the name of an index is empty.
  const bool index = o.first.size() > 1 && o.first[0].empty() && is_index("", o, 0);
  const std::size_t from = index ? 1 : 0;
  const std::vector<Index> names = whole_numbers(o.first, from);
  const bool counts = names.size() >= (index ? 1 : 2) && names[0] <= 1 && counts_up(names);
  if (!counts) return none;
  const std::string range = fmt::format("{} to {}", names.front(), names.back());
  if (index)
    return {true, fmt::format("its first line counts the columns, {}, beside an index", range)};
  if (o.next.empty())
    return {false,
            "its first line counts the columns, but is the only one: header yes makes it a header"};
  // Two columns are easily counted by chance: there the records have to look otherwise altogether. One record further
  // down proves nothing: small integers count up now and then.
  const auto may_be_like = [&](const std::vector<std::string_view>& record) {
    if (names.size() == 2)
      return std::any_of(record.begin(), record.end(), [](auto field) { return whole(field); });
    return is_of_its_kind(names, whole_numbers(record, from));
  };
  const auto like = std::count_if(o.next.begin(), o.next.end(), may_be_like);
  if (may_be_like(o.next.front()) || 2 * like > std::ssize(o.next))
    return {
        false,
        fmt::format(
            "its first line counts the columns, {}, but may be a point like the next ones: header "
            "yes makes it a header",
            range)};
  return {true,
          fmt::format("its first line counts the columns, {}: header no makes it a point", range)};
}

bool is_index(const std::string& name, const Opening& o, Index f) {
  if (!name.empty() && !name.starts_with("Unnamed: ")) return false;
  std::vector<std::string_view> seen;
  for (const auto& record : o.next) {
    const std::string_view field = record[static_cast<std::size_t>(f)];
    const bool words = parse_number(field).kind == FieldKind::words;
    if (!words && (!whole(field) || std::find(seen.begin(), seen.end(), field) != seen.end()))
      return false;
    seen.push_back(field);
  }
  return !seen.empty();
}

}  // namespace fwsr
