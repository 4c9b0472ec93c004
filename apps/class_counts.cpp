#include "apps/class_counts.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "apps/command.hpp"
#include "apps/text.hpp"

namespace fwsr::app {

namespace {

constexpr std::string_view proportional = "proportional:";

Index parse_count(std::string_view text, const std::string& option, Index least) {
  const auto number = parse_whole(text);
  if (!number)
    throw UsageError(
        fmt::format("{}: {} is not a whole number; write one such as 50", option, in_quotes(text)));
  if (*number < least)
    throw UsageError(fmt::format("{}: {} is too few; write at least {}", option, *number, least));
  return *number;
}

/// The end of the item at the start of `text`: the first comma after "=digits", or the end. Names
/// may hold commas and equal signs themselves.
std::size_t item_end(std::string_view text) {
  for (std::size_t equals = text.find('='); equals != std::string_view::npos;
       equals = text.find('=', equals + 1)) {
    std::size_t end = equals + 1;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    if (end > equals + 1 && (end == text.size() || text[end] == ',')) return end;
  }
  return text.size();
}

std::string list_of(const std::vector<LabelCount>& classes) {
  std::vector<std::string> names;
  for (const LabelCount& c : classes) names.push_back(in_quotes(c.name, 30));
  return listed(names);
}

ClassCounts parse_class_counts(const std::string& text) {
  const std::string option = "-k/--exemplars";
  if (text.starts_with(proportional))
    return {.kind = ClassCounts::Kind::proportional,
            .number = parse_count(std::string_view(text).substr(proportional.size()), option, 1),
            .named = {}};
  return parse_counts(text, option, 1);
}

}  // namespace

ClassCounts parse_counts(const std::string& text, const std::string& option, Index least) {
  if (text.find('=') == std::string::npos)
    return {
        .kind = ClassCounts::Kind::each, .number = parse_count(text, option, least), .named = {}};
  ClassCounts counts{.kind = ClassCounts::Kind::named, .number = 0, .named = {}};
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = item_end(rest);
    const std::string_view item = rest.substr(0, end);
    const std::size_t equals = item.rfind('=');
    if (equals == std::string_view::npos || equals == 0)
      throw UsageError(
          fmt::format("{}: {} is not name=number; write cat=3,dog=5", option, in_quotes(item)));
    const std::string name(item.substr(0, equals));
    if (!counts.named.emplace(name, parse_count(item.substr(equals + 1), option, least)).second)
      throw UsageError(fmt::format("{}: {} is named twice; name it once", option, in_quotes(name)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return counts;
}

ExemplarCount parse_exemplars(const std::string& text, bool per_class) {
  if (per_class) return {.text = text, .number = 0, .per_class = parse_class_counts(text)};
  if (text.starts_with(proportional) || text.find('=') != std::string::npos)
    throw UsageError(fmt::format("-k {} is meant per class; add --per-class", in_quotes(text)));
  return {.text = text, .number = parse_count(text, "-k/--exemplars", 1), .per_class = {}};
}

Json json_of(const ExemplarCount& count) {
  if (!count.per_class) return count.number > 0 ? Json(count.number) : Json();
  if (count.per_class->kind == ClassCounts::Kind::each) return count.per_class->number;
  return count.text;
}

std::vector<Index> wanted_per_class(const ClassCounts& counts,
                                    const std::vector<LabelCount>& classes) {
  Index points = 0;
  std::vector<Index> sizes;
  for (const LabelCount& c : classes) {
    points += c.points;
    sizes.push_back(c.points);
  }
  const auto too_many = [](Index number, Index there, const std::string& of) {
    throw UsageError(fmt::format("-k/--exemplars: {} asked for, but {} has only {}; ask for fewer",
                                 number, of, counted(there, "point")));
  };
  if (counts.kind != ClassCounts::Kind::named && counts.number > points)
    too_many(counts.number, points, "the data");
  if (counts.kind == ClassCounts::Kind::proportional)
    return proportional_shares(sizes, counts.number);
  std::vector<Index> wanted(classes.size(), 0);
  if (counts.kind == ClassCounts::Kind::each) {
    wanted.assign(classes.size(), counts.number);
    return wanted;
  }
  for (const auto& [name, number] : counts.named) {
    const auto found = std::ranges::find(classes, name, &LabelCount::name);
    if (found == classes.end())
      throw UsageError(fmt::format("-k/--exemplars: there is no class {}; the classes are {}",
                                   in_quotes(name), list_of(classes)));
    const auto c = static_cast<std::size_t>(found - classes.begin());
    wanted[c] = number;
  }
  return wanted;
}

}  // namespace fwsr::app
