#include "fwsr/methods/compare_table.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fwsr/base/memory.hpp"

namespace fwsr {

namespace {

/// Means that agree to this part of the larger are equal.
constexpr double equal_width = 1e-9;

/// What is 0 to rounding is 0.
double without_rounding(double value, const Measure& measure) {
  return std::abs(value) <= measure.rounding ? 0.0 : value;
}

const char* word_for(Comparison::Outcome outcome) {
  switch (outcome) {
    case Comparison::Outcome::too_slow:
      return "no time";
    case Comparison::Outcome::too_large:
      return "no memory";
    default:
      return "refused";
  }
}

}  // namespace

std::string measured_text(const Spread& spread, const Measure& measure) {
  if (!std::isfinite(spread.mean)) return "-";
  if (measure.unit == Measure::Unit::bytes) return format_bytes(spread.mean);
  const double mean = without_rounding(spread.mean, measure);
  std::string text = fmt::format("{:.4g}", mean);
  if (measure.unit == Measure::Unit::seconds) return text;
  if (mean != 0 && spread.deviation > equal_width * std::abs(mean))
    text += fmt::format(" +-{:.1g}", spread.deviation);
  return text;
}

std::vector<bool> best_of(const std::vector<double>& means, const Measure& measure) {
  std::vector<bool> best(means.size(), false);
  double top = std::nan("");
  const auto better = [&](double a, double b) { return measure.less_is_better ? a < b : a > b; };
  for (const double mean : means)
    if (const double v = without_rounding(mean, measure);
        std::isfinite(v) && (std::isnan(top) || better(v, top)))
      top = v;
  bool others = false;
  for (std::size_t i = 0; i < means.size(); ++i) {
    const double v = without_rounding(means[i], measure);
    if (!std::isfinite(v)) continue;
    best[i] = std::abs(v - top) <= equal_width * std::max(std::abs(v), std::abs(top));
    others = others || !best[i];
  }
  if (!others) best.assign(means.size(), false);
  return best;
}

std::string comparison_table(const std::vector<TableLine>& lines) {
  std::vector<std::vector<std::string>> cells(lines.size() + 1);
  cells[0].push_back("method");
  for (std::size_t r = 0; r < lines.size(); ++r) {
    cells[r + 1].push_back(lines[r].name);
    if (lines[r].outcome != Comparison::Outcome::done)
      cells[r + 1].push_back(word_for(lines[r].outcome));
  }
  for (std::size_t m = 0; m < measures().size(); ++m) {
    const Measure& measure = measures()[m];
    std::vector<double> means;
    for (const TableLine& line : lines)
      means.push_back(line.outcome == Comparison::Outcome::done ? line.spreads.at(m).mean
                                                                : std::nan(""));
    if (std::none_of(means.begin(), means.end(), [](double v) { return std::isfinite(v); }))
      continue;
    const std::vector<bool> best = best_of(means, measure);
    cells[0].push_back(fmt::format("{}  ", measure.title));
    for (std::size_t r = 0; r < lines.size(); ++r)
      if (lines[r].outcome == Comparison::Outcome::done)
        cells[r + 1].push_back(measured_text(lines[r].spreads[m], measure) +
                               (best[r] ? " *" : "  "));
  }
  std::vector<std::size_t> width(std::max<std::size_t>(cells[0].size(), 2), 0);
  for (std::size_t r = 0; r < cells.size(); ++r) {
    const bool answered = r == 0 || lines[r - 1].outcome == Comparison::Outcome::done;
    for (std::size_t c = 0; c < (answered ? cells[r].size() : 1); ++c)
      width[c] = std::max(width[c], cells[r][c].size());
  }
  std::string text;
  for (const auto& line : cells) {
    std::string out = fmt::format("{:<{}}", line.front(), width.front());
    for (std::size_t c = 1; c < line.size(); ++c) out += fmt::format("  {:>{}}", line[c], width[c]);
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  }
  return text;
}

}  // namespace fwsr
