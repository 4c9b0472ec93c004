// What the page of a selection is made of. Internal.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "fwsr/report/document.hpp"
#include "fwsr/report/features.hpp"
#include "fwsr/report/groups.hpp"
#include "fwsr/report/measure.hpp"
#include "fwsr/report/page.hpp"
#include "fwsr/report/plane.hpp"
#include "fwsr/report/shown.hpp"

namespace fwsr::report {

/// How much of the points a page shows: less and less until it is small enough.
struct Detail {
  Index map_points = most_points_in_map;
  std::size_t cards = 500;                        // exemplars with a card of their own
  std::size_t members = 8;                        // nearest points of each, and farthest ones
  std::size_t worst = most_worst_points;          // points that are badly represented
  std::size_t characters = 600;                   // of a text
  std::size_t names = 400'000;                    // bytes of ids and texts of the points in the map
  std::size_t images = 1'600'000;                 // bytes of images beside those of the exemplars
  std::size_t pictures = most_bytes_of_pictures;  // bytes of files
};
/// From the richest to the poorest.
std::vector<Detail> details();

/// One exemplar, of whatever run.
struct Chosen {
  Index index = 0, rank = 0;
  std::size_t run = 0;
  double weight = 0, strength = 0;
  bool filled = false, included = false;
};

/// Everything known before anything is written.
struct SelectFacts {
  const SelectPage& page;
  const Measured& measured;
  const Detail& detail;
  Classes classes;
  std::vector<Chosen> chosen;
  std::vector<Group> groups;
  std::vector<Index> by_share, by_amount;  // the worst represented, by each
  std::vector<Index> shown_rows;           // exemplars with cards, worst, and members, each once
  Shown shown;

  SelectFacts(const SelectPage& of, const Measured& found, const Detail& how, Pictures& pictures);
  std::size_t cards() const { return std::min(chosen.size(), detail.cards); }
};

std::vector<Chosen> chosen_of(const std::vector<Run>& runs);

// Sentences.
std::string title_of(const SelectPage& page);
std::string what_was_run(const SelectPage& page);
std::vector<Line> lines_of(const SelectPage& page);

// Markup.
std::string gallery_section(const SelectFacts& facts);
std::string worst_section(const SelectFacts& facts);
std::string enough_section(const SelectFacts& facts);
std::string map_section(const SelectFacts& facts);
std::string classes_section(const SelectFacts& facts);
std::string trace_section(const SelectFacts& facts);
std::string export_section(const SelectFacts& facts);

/// JSON for the script. `map_rows` stand where `plane` says.
std::string select_data(const SelectFacts& facts, const std::vector<Index>& map_rows,
                        const Plane& plane);

}  // namespace fwsr::report
