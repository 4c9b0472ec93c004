// The page of a selection, part by part, as markup that needs no script.
#include <cmath>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/report/charts.hpp"
#include "fwsr/report/sample.hpp"
#include "fwsr/report/select_parts.hpp"
#include "fwsr/report/text.hpp"

namespace fwsr::report {

namespace {

double weight_of_all(const SelectFacts& facts) {
  double all = 0;
  for (const Chosen& one : facts.chosen) all += one.weight;
  return all;
}

std::string class_of(const SelectFacts& facts, Index row, std::size_t most) {
  const Index c = facts.classes.of(facts.page.rows, row);
  return c < 0 ? "" : class_name(facts.classes.names[at(c)], most);
}

/// The number of an exemplar as people and files call it.
std::string called(const SelectFacts& facts, std::size_t place) {
  const Chosen& one = facts.chosen[place];
  return facts.page.runs.size() > 1
             ? fmt::format("{} of {}", one.rank, shortened(facts.page.classes[one.run], 30))
             : fmt::format("{}", one.rank);
}

/// A link to its card.
std::string link_to(const SelectFacts& facts, Index place) {
  if (place < 0) return "";
  const std::string name = html(called(facts, at(place)));
  return at(place) < facts.cards() ? fmt::format("<a href=\"#e{}\">{}</a>", place, name) : name;
}

std::string members_list(const SelectFacts& facts, const std::vector<Index>& rows,
                         std::string_view heading) {
  if (rows.empty()) return "";
  std::string out = fmt::format("<h4>{}</h4>\n<ul class=\"members\">", heading);
  for (const Index row : rows) {
    const std::string label = class_of(facts, row, 30);
    out += fmt::format("<li data-row=\"{}\">{}{}</li>", row, html(facts.shown.name(row)),
                       label.empty() ? "" : fmt::format(" <span>{}</span>", html(label)));
  }
  return out + "</ul>\n";
}

std::string card(const SelectFacts& facts, std::size_t place, double all) {
  const Chosen& one = facts.chosen[place];
  const Group& group = facts.groups[place];
  const double share = all > 0 ? one.weight / all : 0;
  const std::string label = class_of(facts, one.index, 60);
  const std::string stands = fmt::format("stands for {} ({})",
                                         one.weight == std::floor(one.weight)
                                             ? counted(static_cast<Index>(one.weight), "point")
                                             : "a weight of " + number_text(one.weight),
                                         percent(share));
  double largest_share = 0;
  for (const Chosen& other : facts.chosen)
    largest_share = std::max(largest_share, all > 0 ? other.weight / all : 0);
  std::string out = fmt::format(
      "<li class=\"card\" id=\"e{0}\" data-place=\"{0}\">\n<h3>{1}</h3>\n"
      "<div class=\"face\">{2}</div>\n<p class=\"name\">{3}</p>\n",
      place, html("Exemplar " + called(facts, place)),
      facts.shown.face(one.index, facts.detail.characters), html(facts.shown.name(one.index)));
  if (!label.empty()) out += fmt::format("<p class=\"class\">class {}</p>\n", html(label));
  if (one.included || one.filled)
    out += fmt::format("<p class=\"class\">{}</p>\n",
                       one.included ? "was there already" : "filled in, not chosen");
  out += fmt::format("<p class=\"stands\">{}</p>{}\n", html(stands),
                     bar(largest_share > 0 ? share / largest_share : 0, stands, "bar share"));
  out += mix_bar(group.classes, facts.classes.names);
  if (!group.nearest.empty())
    out += fmt::format("<details class=\"group\"><summary>Its points</summary>\n{}{}</details>\n",
                       members_list(facts, group.nearest, "Nearest"),
                       members_list(facts, group.farthest, "Farthest"));
  return out + "</li>\n";
}

std::string points_table(const SelectFacts& facts, const std::vector<Index>& rows,
                         std::string_view caption) {
  // What they are listed by stands where narrow screens show it.
  std::vector<std::string> columns = {"point", "left over", "of all missing", "exemplar"};
  if (facts.page.rows.has_classes()) columns.push_back("class");
  columns.push_back("distance");
  double missing = 0;
  for (const float amount : facts.measured.amount) missing += static_cast<double>(amount);
  std::vector<std::vector<std::string>> lines;
  for (const Index row : rows) {
    std::vector<std::string> line = {
        fmt::format("<span data-row=\"{}\">{}</span>", row, html(facts.shown.name(row)))};
    const double amount = static_cast<double>(facts.measured.amount[at(row)]);
    line.push_back(percent(static_cast<double>(facts.measured.left[at(row)])));
    line.push_back(missing > 0 ? percent(amount / missing) : "");
    line.push_back(link_to(facts, facts.measured.group[at(row)]));
    if (facts.page.rows.has_classes()) line.push_back(html(class_of(facts, row, 30)));
    line.push_back(distance_text(static_cast<double>(facts.measured.distance[at(row)])));
    lines.push_back(std::move(line));
  }
  return table(columns, lines, caption);
}

}  // namespace

std::string gallery_section(const SelectFacts& facts) {
  const double all = weight_of_all(facts);
  std::string cards = "<ul class=\"cards\">\n";
  for (std::size_t t = 0; t < facts.cards(); ++t) cards += card(facts, t, all);
  cards += "</ul>\n";
  const std::size_t more = facts.chosen.size() - facts.cards();
  if (more > 0)
    cards += fmt::format("<p class=\"note\">{} more are in the table below.</p>\n",
                         count_text(static_cast<Index>(more)));
  return section("gallery", "Exemplars",
                 "In the order of choosing, counted from 0 as in the CSV. The bar says how many "
                 "points each stands for: those it is nearest to.",
                 cards);
}

std::string enough_section(const SelectFacts& facts) {
  const std::vector<double>& error = facts.measured.error;
  if (error.empty()) return "";
  std::vector<std::vector<std::string>> lines;
  for (const Index t : evenly_spaced(std::ssize(error), 200))
    lines.push_back({fmt::format("{}", t + 1), percent(1 - error[at(t)]), percent(error[at(t)]),
                     percent(1 - facts.measured.random[at(t)])});
  const bool classes = facts.page.runs.size() > 1;
  const std::string first = classes ? "first of each class" : "first exemplars";
  const bool refined = facts.page.runs.front().selection->refinement.has_value();
  return section(
      "enough", "How many are enough?",
      fmt::format("What the first 1, 2, ... exemplars {}span of the points, beside as many points "
                  "drawn at random (the mean of {} draws).{}",
                  classes ? "of each class " : "", random_draws,
                  refined
                      ? " The exemplars were refined together as one set: fewer of them, chosen "
                        "by a run of their own, may span more."
                      : ""),
      fmt::format("<div class=\"picture\">{}</div>\n", enough_chart(facts.measured, classes)) +
          table_behind(table({first, "spanned", "left over", "spanned by random points"}, lines,
                             "What the first exemplars span"),
                       "The same as a table"));
}

std::string worst_section(const SelectFacts& facts) {
  std::string content = "<div class=\"pair\">";
  if (!facts.by_share.empty() && facts.by_share == facts.by_amount) {  // all norms are equal
    content += points_table(facts, facts.by_share, "The most left over");
  } else if (!facts.by_share.empty()) {
    content += points_table(facts, facts.by_share, "The largest part of itself left over");
    content += points_table(facts, facts.by_amount, "The most of all that is missing");
  }
  std::vector<std::vector<std::string>> lines;
  for (const std::size_t t : loosest(facts.groups, 12)) {
    const Index row = facts.chosen[t].index;
    lines.push_back(
        {fmt::format("<span data-row=\"{}\">{}</span>", row, html(facts.shown.name(row))),
         link_to(facts, static_cast<Index>(t)), distance_text(facts.groups[t].mean_distance),
         count_text(facts.groups[t].points)});
  }
  content +=
      table({"point", "exemplar", "mean distance", "stands for"}, lines, "The loosest groups") +
      "</div>\n";
  return section(
      "worst", "Badly represented",
      "Points that the exemplars do not span, and groups whose points are far from "
      "their exemplar. Distances are in units of the root-mean-square norm of the points.",
      content);
}

std::string map_section(const SelectFacts& facts) {
  const bool all = facts.page.rows.size() <= facts.detail.map_points;
  return section("map", "Map",
                 fmt::format("{} Exemplars are ringed, and the larger the more points they stand "
                             "for. Drag to move; press + and -, or click and turn the wheel, to "
                             "zoom; hold Shift and drag to list a region.",
                             all ? "All points."
                                 : fmt::format("{} of {}, evenly spaced, and all exemplars.",
                                               count_text(facts.detail.map_points),
                                               counted(facts.page.rows.size(), "point"))),
                 "<div class=\"picture\" data-view=\"map\"></div>\n");
}

std::string classes_section(const SelectFacts& facts) {
  if (facts.classes.names.empty()) return "";
  std::vector<Index> chosen(facts.classes.names.size());
  for (const Chosen& one : facts.chosen)
    if (const Index c = facts.classes.of(facts.page.rows, one.index); c >= 0) ++chosen[at(c)];
  Index points = 0;
  for (const Index count : facts.classes.points) points += count;
  const auto share = [](Index part, Index of) {
    return of > 0 ? static_cast<double>(part) / static_cast<double>(of) : 0.0;
  };
  double most = 0;  // the longest bar
  for (std::size_t c = 0; c < chosen.size(); ++c)
    most = std::max(
        {most, share(facts.classes.points[c], points), share(chosen[c], std::ssize(facts.chosen))});
  std::vector<std::vector<std::string>> lines;
  for (std::size_t c = 0; c < chosen.size() && c < 500; ++c) {
    const double data = share(facts.classes.points[c], points),
                 mine = share(chosen[c], std::ssize(facts.chosen));
    lines.push_back(
        {html(class_name(facts.classes.names[c], 60)), count_text(facts.classes.points[c]),
         percent(data) + bar(data / most, percent(data) + " of the data"), count_text(chosen[c]),
         percent(mine) + bar(mine / most, percent(mine) + " of the exemplars")});
  }
  return section("classes", "Classes",
                 "What share each class has of the data and of the exemplars.",
                 table({"class", "points", "of the data", "exemplars", "of the exemplars"}, lines,
                       "Shares of the classes"));
}

std::string trace_section(const SelectFacts& facts) {
  std::vector<std::vector<std::string>> lines;
  if (facts.page.runs.size() != 1) return "";
  const std::vector<Step>& trace = facts.page.runs.front().selection->trace;
  if (trace.empty()) return "";
  for (const Index t : evenly_spaced(std::ssize(trace), 200)) {
    const Step& step = trace[at(t)];
    lines.push_back({fmt::format("{}", t), fmt::format("{}", step.pick), number_text(step.f),
                     number_text(step.gap), fmt::format("{}", step.rows)});
  }
  return section(
      "trace", "Steps of the run",
      "The objective f after each step, and the gap before it: nobody can do better than "
      "f less the gap within the radius.",
      fmt::format("<div class=\"picture\">{}</div>\n", trace_chart(trace)) +
          table_behind(table({"step", "pick", "f", "gap", "exemplars"}, lines, "Steps of the run"),
                       "The same as a table"));
}

std::string export_section(const SelectFacts& facts) {
  const bool classes = facts.page.rows.has_classes(), ids = !facts.page.rows.ids.empty();
  std::vector<std::string> columns = {"exemplar", "index"};
  if (ids) columns.push_back("id");
  if (classes) columns.push_back("class");
  columns.insert(columns.end(), {"weight", "strength"});
  constexpr std::size_t most = 5000;
  std::vector<std::vector<std::string>> lines;
  for (std::size_t t = 0; t < facts.chosen.size() && t < most; ++t) {
    const Chosen& one = facts.chosen[t];
    std::vector<std::string> line = {link_to(facts, static_cast<Index>(t)),
                                     fmt::format("{}", one.index)};
    if (ids)
      line.push_back(html(at(one.index) < facts.page.rows.ids.size()
                              ? shortened(facts.page.rows.ids[at(one.index)], 60)
                              : ""));
    if (classes) line.push_back(html(class_of(facts, one.index, 60)));
    line.push_back(number_text(one.weight));
    line.push_back(number_text(one.strength));
    lines.push_back(std::move(line));
  }
  return section("export", "Take it with you", "",
                 "<div data-view=\"export\"></div>\n" +
                     table_behind(table(columns, lines, "All exemplars", "exemplars"),
                                  "All exemplars as a table"));
}

}  // namespace fwsr::report
