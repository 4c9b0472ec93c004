#include <cmath>
#include <set>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/report/sample.hpp"
#include "fwsr/report/select_parts.hpp"

namespace fwsr::report {

std::vector<Detail> details() {
  return {Detail{},
          {.cards = 300,
           .members = 5,
           .worst = 12,
           .names = 100'000,
           .images = 1'200'000,
           .pictures = 3'600'000},
          {.map_points = 10'000,
           .cards = 200,
           .members = 3,
           .worst = 10,
           .characters = 300,
           .names = 0,
           .images = 800'000,
           .pictures = 3'000'000},
          {.map_points = 5'000,
           .cards = 100,
           .members = 1,
           .worst = 8,
           .characters = 200,
           .names = 0,
           .images = 300'000,
           .pictures = 2'000'000},
          {.map_points = 2'000,
           .cards = 20,
           .members = 0,
           .worst = 4,
           .characters = 100,
           .names = 0,
           .images = 0,
           .pictures = 1'000'000}};
}

std::vector<Chosen> chosen_of(const std::vector<Run>& runs) {
  std::vector<Chosen> all;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const Selection& s = *runs[r].selection;
    for (std::size_t t = 0; t < s.exemplars.size(); ++t)
      all.push_back({.index = s.exemplars[t],
                     .rank = static_cast<Index>(t),
                     .run = r,
                     .weight = t < s.weights.size() ? s.weights[t] : 0,
                     .strength = t < s.strength.size() ? s.strength[t] : 0,
                     .filled = t < s.filled.size() && s.filled[t],
                     .included = t < s.included.size() && s.included[t]});
  }
  return all;
}

namespace {

std::vector<Index> indices_of(const std::vector<Chosen>& chosen) {
  std::vector<Index> all;
  for (const Chosen& one : chosen) all.push_back(one.index);
  return all;
}

/// Each once, in the order of their first place.
std::vector<Index> rows_to_show(const std::vector<Chosen>& chosen, std::size_t cards,
                                const std::vector<Group>& groups,
                                const std::vector<std::vector<Index>>& others) {
  std::vector<Index> all;
  std::set<Index> known;
  const auto add = [&](Index row) {
    if (known.insert(row).second) all.push_back(row);
  };
  for (std::size_t t = 0; t < cards; ++t) add(chosen[t].index);
  for (const std::vector<Index>& some : others)
    for (const Index row : some) add(row);
  for (std::size_t t = 0; t < cards; ++t) {
    for (const Index row : groups[t].nearest) add(row);
    for (const Index row : groups[t].farthest) add(row);
  }
  return all;
}

}  // namespace

SelectFacts::SelectFacts(const SelectPage& of, const Measured& found, const Detail& how,
                         Pictures& pictures)
    : page(of),
      measured(found),
      detail(how),
      classes(of.rows),
      chosen(chosen_of(of.runs)),
      groups(groups_of(of.rows, classes, found, indices_of(chosen), how.members)),
      by_share(largest(found.left, how.worst)),
      by_amount(largest(found.amount, how.worst)),
      shown_rows(rows_to_show(chosen, cards(), groups, {by_share, by_amount})),
      shown(of.rows, shown_rows, pictures, how.pictures) {
  // A run that was interrupted has not counted its points.
  std::vector<double> stands(chosen.size());
  for (std::size_t i = 0; i < found.group.size(); ++i)
    if (found.group[i] >= 0) stands[at(found.group[i])] += of.weights.empty() ? 1 : of.weights[i];
  for (std::size_t t = 0; t < chosen.size(); ++t)
    if (of.runs[chosen[t].run].selection->weights.empty() || !std::isfinite(chosen[t].weight))
      chosen[t].weight = stands[t];
}

Index select_page_bytes(Index points, Index features, Index exemplars, bool images, int threads) {
  const Index n = points, k = exemplars, block = 256;  // points at a time
  // Group, distance, left over and amount; norms and means of the points; members of groups, and what is sorted.
  const Index of_points = n * Index{16 + 24 + 16} + 8 * k * (n / block + 1);
  // Of every thread a block by exemplars, and a draw at random; matrices of exemplars by exemplars.
  const Index of_exemplars = 8 * k * (Index{threads} * (4 * block + 3 * k) + 3 * k);
  const auto text = static_cast<Index>(images ? most_bytes_with_images : most_bytes);
  // Of 20,000 points their places, names and exemplars; the text a few times over.
  return of_points + of_exemplars + Index{16} * 8 * features + 16'000'000 + 5 * text;
}

namespace {

void check(const SelectPage& page) {
  check_rows(page.rows);
  const Index n = page.rows.size(), d = cols_of(page.rows.points);
  if (page.runs.empty()) throw Error("a page is of one run at least, and there is none");
  if (page.runs.size() > 1 && page.classes.size() != page.runs.size())
    throw Error(fmt::format("a page of {} runs has names of {} classes", page.runs.size(),
                            page.classes.size()));
  for (const Run& run : page.runs) {
    if (!run.selection) throw Error("a run of a page has no selection");
    for (const Index e : run.selection->exemplars)
      if (e < 0 || e >= n)
        throw Error(fmt::format("exemplar {} is none of the {} points of the page", e, n));
  }
  if (!page.weights.empty() && std::ssize(page.weights) != n)
    throw Error(fmt::format("a page of {} points has {} weights", n, page.weights.size()));
  for (const Index axis : page.axes)
    if (page.axes.size() != 2 || axis < 0 || axis >= d)
      throw Error(fmt::format("the axes of a map are two of {} features", d));
}

}  // namespace

Run run_of(const Request& request, const Selection& selection, std::span<const Index> members) {
  return {.selection = &selection,
          .members = members,
          .options = request.options,
          .dissimilarities = takes_dissimilarities(request.settings)};
}

std::string select_page(const SelectPage& page, int threads, const KeepGoing& keep_going) {
  check(page);
  if (threads <= 0) threads = default_threads();
  const Measured measured = measure(page.rows.points, page.runs, page.weights, threads, keep_going);
  const std::size_t most = page.rows.has_images() ? most_bytes_with_images : most_bytes;
  Pictures pictures(page.rows);
  std::string out;
  for (const Detail& detail : details()) {
    throw_if_cancelled(keep_going);
    const SelectFacts facts(page, measured, detail, pictures);
    std::vector<Index> map_rows = evenly_spaced(page.rows.size(), detail.map_points);
    for (const Chosen& one : facts.chosen) map_rows.push_back(one.index);
    for (const Index row : facts.by_share) map_rows.push_back(row);
    std::sort(map_rows.begin(), map_rows.end());
    map_rows.erase(std::unique(map_rows.begin(), map_rows.end()), map_rows.end());
    const Plane plane = plane_of(page.rows, page.runs.front(), page.axes, map_rows, threads);
    const std::string top = header(title_of(page), what_was_run(page), lines_of(page), page.about);
    const std::string sections =
        gallery_section(facts) + enough_section(facts) + worst_section(facts) + map_section(facts) +
        classes_section(facts) + trace_section(facts) + export_section(facts);
    out = document(title_of(page), top, sections, select_data(facts, map_rows, plane));
    if (out.size() <= most) break;
  }
  return out;
}

}  // namespace fwsr::report
