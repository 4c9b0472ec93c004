// The page of a selection as its script reads it.
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

#include "fwsr/base/at.hpp"
#include "fwsr/report/sample.hpp"
#include "fwsr/report/select_parts.hpp"
#include "fwsr/report/text.hpp"

namespace fwsr::report {

namespace {

/// Whole numbers of so many bytes each, the lowest byte first, in base64.
template <class T = void, class Given>
std::string packed(const std::vector<Given>& numbers) {
  constexpr std::size_t size = sizeof(std::conditional_t<std::is_void_v<T>, Given, T>);
  std::vector<unsigned char> bytes;
  bytes.reserve(numbers.size() * size);
  for (const Given number : numbers)
    for (std::size_t b = 0; b < size; ++b)
      bytes.push_back(static_cast<unsigned char>(static_cast<std::uint64_t>(number) >> (8 * b)));
  return base64(bytes);
}

/// From 0 at the least to 65535 at the largest.
std::vector<std::uint16_t> spread(const std::vector<double>& values) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double v : values) low = std::min(low, v), high = std::max(high, v);
  std::vector<std::uint16_t> out;
  for (const double v : values)
    out.push_back(high > low
                      ? static_cast<std::uint16_t>(std::lround((v - low) / (high - low) * 65535))
                      : std::uint16_t{32768});
  return out;
}

void add_exemplars(JsonWriter& out, const SelectFacts& facts) {
  const SelectPage& page = facts.page;
  const auto list = [&](const char* name, const auto& add) {
    out.key(name).array();
    for (std::size_t t = 0; t < facts.chosen.size(); ++t) add(t);
    out.end_array();
  };
  out.key("exemplars").object();
  list("index", [&](std::size_t t) { out.value(facts.chosen[t].index); });
  list("rank", [&](std::size_t t) { out.value(facts.chosen[t].rank); });
  list("weight", [&](std::size_t t) { out.value(facts.chosen[t].weight, 10); });
  list("strength", [&](std::size_t t) { out.value(facts.chosen[t].strength, 10); });
  list("included", [&](std::size_t t) { out.value(facts.chosen[t].included); });
  list("distance", [&](std::size_t t) { out.value(facts.groups[t].mean_distance, 4); });
  if (!page.rows.ids.empty())
    list("id", [&](std::size_t t) {
      const std::size_t row = at(facts.chosen[t].index);
      out.value(row < page.rows.ids.size() ? std::string_view(page.rows.ids[row]) : "");
    });
  out.end_object();
}

void add_rows(JsonWriter& out, const SelectFacts& facts) {
  // Cards have those of their exemplars.
  const std::size_t cards = facts.cards();
  out.key("rows").array();
  for (std::size_t r = cards; r < facts.shown_rows.size(); ++r) {
    const Index row = facts.shown_rows[r];
    out.object().field("i", row);
    facts.shown.add_face(out, row, std::min<std::size_t>(facts.detail.characters, 300));
    out.end_object();
  }
  out.end_array();
}

/// Names of the points in the map, where they are not too many bytes: ids, or the beginning of texts.
void add_names(JsonWriter& out, const SelectFacts& facts, const std::vector<Index>& rows) {
  const Rows& all = facts.page.rows;
  if (all.ids.empty() && all.texts.empty()) return;
  std::vector<std::string> names;
  std::size_t bytes = 0;
  for (const Index row : rows) {
    std::string name;
    if (at(row) < all.ids.size()) name = shortened(all.ids[at(row)], 40);
    if (at(row) < all.texts.size())
      name += fmt::format("{}{}", name.empty() ? "" : ": ", shortened(all.texts[at(row)], 80));
    bytes += name.size() + 3;
    if (bytes > facts.detail.names) return;
    names.push_back(std::move(name));
  }
  out.key("names").array();
  for (const std::string& name : names) out.value(name);
  out.end_array();
}

void add_map(JsonWriter& out, const SelectFacts& facts, const std::vector<Index>& rows,
             const Plane& plane) {
  const Measured& measured = facts.measured;
  std::vector<std::uint32_t> index;
  std::vector<std::uint16_t> turns, groups, left;
  std::vector<std::int16_t> classes;
  for (const Index row : rows) {
    index.push_back(static_cast<std::uint32_t>(row));
    const std::int32_t last = measured.group[at(row)];
    std::span<const std::int32_t> story = measured.prefixes.of(row);
    if (story.empty() && last >= 0) story = std::span(&last, 1);
    if (facts.chosen.size() > 65535) story = {};  // the script counts no farther
    turns.push_back(static_cast<std::uint16_t>(story.size()));
    for (const std::int32_t place : story) groups.push_back(static_cast<std::uint16_t>(place));
    classes.push_back(static_cast<std::int16_t>(facts.classes.of(facts.page.rows, row)));
    if (!measured.left.empty())
      left.push_back(
          static_cast<std::uint16_t>(std::lround(65535 * std::min(1.0F, measured.left[at(row)]))));
  }
  out.key("map").object();
  out.field("across", plane.across).field("up", plane.up);
  // The exemplars that each point goes to, one after the other, and how many these are.
  const bool wide = facts.chosen.size() > 255;
  out.field("index", packed(index)).field("wide", wide);
  out.field("turns", wide ? packed(turns) : packed<std::uint8_t>(turns));
  out.field("groups", wide ? packed(groups) : packed<std::uint8_t>(groups));
  out.field("x", packed(spread(plane.x))).field("y", packed(spread(plane.y)));
  if (!facts.classes.names.empty()) out.field("class", packed(classes));
  if (!left.empty()) out.field("left", packed(left));
  add_names(out, facts, rows);
  out.end_object();
}

void add_curve(JsonWriter& out, const SelectFacts& facts) {
  const Measured& measured = facts.measured;
  if (measured.error.empty()) return;
  const auto list = [&](const char* name, const std::vector<double>& values) {
    out.key(name).array();
    for (const double v : values) out.value(v, 9);
    out.end_array();
  };
  out.key("curve").object().field("classes", facts.page.runs.size() > 1);
  list("error", measured.error);
  list("random", measured.random);
  out.end_object();
}

/// How many points each exemplar stands for when there are fewer.
void add_moves(JsonWriter& out, const SelectFacts& facts) {
  const PrefixGroups& prefixes = facts.measured.prefixes;
  if (facts.measured.error.empty() || !prefixes.known()) return;
  const auto list = [&](const char* name, const auto& of) {
    out.key(name).array();
    for (const Move& move : prefixes.moves()) out.value(of(move));
    out.end_array();
  };
  out.key("moves").object();
  list("from", [](const Move& move) { return move.from; });
  list("to", [](const Move& move) { return move.to; });
  out.key("weight").array();
  for (const Move& move : prefixes.moves()) out.value(move.weight, 10);
  out.end_array().end_object();
}

void add_again(JsonWriter& out, const SelectPage& page) {
  if (page.about.again.empty()) return;
  out.key("again").object().field("python", page.about.python);
  out.field("classes", page.runs.size() > 1).field("excluded", page.about.excluded);
  out.key("words").array();
  for (const std::string& word : page.about.again) out.value(word);
  out.end_array().end_object();
}

}  // namespace

std::string select_data(const SelectFacts& facts, const std::vector<Index>& map_rows,
                        const Plane& plane) {
  JsonWriter out;
  out.object().field("kind", "select").field("name", facts.page.rows.name);
  out.field("points", facts.page.rows.size()).key("classes").array();
  for (const std::string& name : facts.classes.names) out.value(shortened(name, 100));
  out.end_array();
  add_exemplars(out, facts);
  add_rows(out, facts);
  add_map(out, facts, map_rows, plane);
  add_curve(out, facts);
  add_moves(out, facts);
  add_again(out, facts.page);
  // Exemplars have their own; then what is shown, then the points in the map.
  std::vector<Index> pictures = facts.shown_rows;
  if (facts.shown.images()) {
    std::vector<bool> there(at(facts.page.rows.size()));
    for (const Index row : pictures) there[at(row)] = true;
    // Evenly spaced ones first, so that what does not fit any more is missing everywhere alike.
    const Index step = std::max<Index>(1, std::ssize(map_rows) / 2000);
    for (Index start = 0; start < step; ++start)
      for (Index r = start; r < std::ssize(map_rows); r += step)
        if (!there[at(map_rows[at(r)])]) pictures.push_back(map_rows[at(r)]);
    add_sheets(out, facts.shown, pictures, facts.detail.images);
  }
  return out.end_object().text();
}

}  // namespace fwsr::report
