#include "apps/text.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace fwsr::app {

std::string shown_on_terminal(std::string_view page) {
  std::string out;
  while (!page.empty()) {
    const std::size_t end = page.find_first_of("\n\t");
    out += shown(page.substr(0, end));
    if (end == std::string_view::npos) break;
    out += page[end];
    page.remove_prefix(end + 1);
  }
  return out;
}

std::string shown_briefly(std::string_view text) {
  constexpr std::size_t most = 6000, end = 1000;  // a path may take 4096
  if (text.size() <= most) return shown(text);
  return fmt::format("{} ... {}", shown(text.substr(0, most - end)),
                     shown(text.substr(text.size() - end)));
}

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const char* last = text.data() + text.size();
  const auto [end, code] = std::from_chars(text.data(), last, value);
  if (text.empty() || code != std::errc{} || end != last) return std::nullopt;
  return value;
}

std::optional<Index> parse_whole(std::string_view text) {
  Index value = 0;
  const char* last = text.data() + text.size();
  const auto [end, code] = std::from_chars(text.data(), last, value);
  if (text.empty() || code != std::errc{} || end != last) return std::nullopt;
  return value;
}

namespace {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& names) {
  if (word.size() > 100) return std::nullopt;
  std::optional<std::string> best;
  // Up to a third of the word may be wrong, but never all of it.
  std::size_t fewest = std::min(std::max<std::size_t>(1, word.size() / 3) + 1, word.size());
  for (const std::string& name : names) {
    // The start of a longer name counts as one slip: --cert for --certificate.
    const bool starts = word.size() >= 3 && name.starts_with(word);
    const std::size_t distance = starts ? 1 : edits(word, name);
    if (distance < fewest) {
      fewest = distance;
      best = name;
    }
  }
  return best;
}

std::string listed(const std::vector<std::string>& items, std::size_t most) {
  const std::size_t count = items.size() > most + 1 ? most : items.size();
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out += i + 1 == items.size() ? " and " : ", ";
    out += items[i];
  }
  if (count < items.size()) out += fmt::format(" and {} more", items.size() - count);
  return out;
}

std::string counted(Index number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

std::string format_seconds(double seconds) {
  if (seconds < 0.01) return fmt::format("{:.4f} s", seconds);
  if (seconds < 10) return fmt::format("{:.2f} s", seconds);
  if (seconds < 100) return fmt::format("{:.1f} s", seconds);
  const Index whole = static_cast<Index>(std::min(seconds, 1e15));
  if (whole < 6000) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
      lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace fwsr::app
