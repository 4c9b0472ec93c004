#include "fwsr/report/charts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/report/document.hpp"
#include "fwsr/report/sample.hpp"
#include "fwsr/report/text.hpp"

namespace fwsr::report {

namespace {

constexpr double width = 720, height = 300;
constexpr double left = 84, right = width - 16, top = 28, bottom = height - 46;

/// Round numbers between two, about so many.
std::vector<double> ticks_between(double low, double high, double about) {
  const double rough = (high - low) / about;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = power;
  for (const double times : {10.0, 5.0, 2.0, 1.0})
    if (times * power >= rough) step = times * power;
  std::vector<double> ticks;
  for (double v = std::ceil(low / step) * step; v <= high + step * 1e-9; v += step)
    ticks.push_back(std::abs(v) < step * 1e-9 ? 0 : v);
  return ticks;
}

/// The logarithms of round numbers between two logarithms.
std::vector<double> powers_between(double low, double high) {
  std::vector<double> ticks;
  const double every = std::max(1.0, std::ceil((high - low) / 8));
  for (double power = std::floor(low / every) * every; power <= high; power += every)
    for (const double times : {1.0, 2.0, 5.0})
      if (const double v = power + std::log10(times);
          v >= low && v <= high && (times == 1 || high - low < 2.5))
        ticks.push_back(v);
  if (ticks.size() >= 2) return ticks;
  ticks = ticks_between(std::pow(10, low), std::pow(10, high), 4);
  for (double& v : ticks) v = std::log10(v);
  return ticks;
}

struct Axes {
  double x_high = 1, y_low = 0, y_high = 1;  // x starts at 0

  double x(double v) const { return left + v / x_high * (right - left); }
  double y(double v) const { return bottom - (v - y_low) / (y_high - y_low) * (bottom - top); }
};

std::string text_at(double x, double y, const char* anchor, std::string_view words,
                    const char* style = "") {
  return fmt::format("<text{} x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>",
                     *style ? fmt::format(" class=\"{}\"", style) : "", x, y, anchor, html(words));
}

/// Opened, with lines and numbers of both axes.
std::string plot(const Axes& axes, std::string_view about, std::string_view attributes,
                 const std::vector<double>& y_ticks, std::string_view across, const auto& words) {
  std::string out = fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {:g} {:g}\" role=\"img\" aria-label=\"{}\"{}>", width,
      height, html(about), attributes);
  for (const double v : y_ticks)
    out += fmt::format("<line class=\"axis\" x1=\"{:g}\" x2=\"{:g}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
                       left, right, axes.y(v), axes.y(v)) +
           text_at(left - 8, axes.y(v) + 5, "end", words(v));
  for (const double v : ticks_between(0, axes.x_high, 7))
    if (v == std::floor(v))
      out += text_at(axes.x(v), bottom + 20, "middle", count_text(static_cast<Index>(v)));
  return out + text_at((left + right) / 2, height - 5, "middle", across, "across");
}

/// Through (x_i, y_i) of the axes; where y is no number, the line goes on behind it.
std::string path_of(const Axes& axes, const std::vector<double>& x, const std::vector<double>& y,
                    const char* style) {
  std::string steps;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::isfinite(y[i]))
      steps +=
          fmt::format("{}{:.1f} {:.1f}", steps.empty() ? "M" : "L", axes.x(x[i]), axes.y(y[i]));
  return steps.empty() ? "" : fmt::format("<path class=\"{}\" d=\"{}\"/>", style, steps);
}

/// Names at the ends of two curves: above the upper one, and below the lower one.
std::string names_at_end(const Axes& axes, double first, const char* first_name, double second,
                         const char* second_name) {
  const double above = -10, below = 22;
  const bool first_above = first >= second;
  const auto name = [&](double v, bool is_above, const char* words, const char* style) {
    const double y = std::clamp(axes.y(v) + (is_above ? above : below), top - 8, bottom - 6);
    return std::isfinite(v) ? text_at(right, y, "end", words, style) : "";
  };
  return name(first, first_above, first_name, "of-run") +
         name(second, !first_above, second_name, "of-drawn");
}

}  // namespace

std::string enough_chart(const Measured& measured, bool classes) {
  const std::vector<double>&error = measured.error, &random = measured.random;
  const auto k = static_cast<double>(error.size());
  const Axes axes{.x_high = k};
  // No more points than can be told apart; the first and the last are there.
  std::vector<double> x = {0}, spans = {0}, by_chance = {0};
  for (const Index t : evenly_spaced(std::ssize(error), 1000)) {
    x.push_back(static_cast<double>(t + 1));
    spans.push_back(1 - error[at(t)]);
    by_chance.push_back(1 - random[at(t)]);
  }
  x.push_back(k), spans.push_back(1 - error.back()), by_chance.push_back(1 - random.back());
  const std::string each = classes ? " of each class" : "";
  const std::string about = fmt::format(
      "Share of the points spanned by the first exemplars{}: {} by all {}, {} by as many at random",
      each, percent(spans.back()), error.size(), percent(by_chance.back()));
  const std::string place = fmt::format(
      " id=\"curve\" data-left=\"{}\" data-right=\"{}\" data-bottom=\"{}\" data-top=\"{}\"", left,
      right, bottom, top);
  return plot(axes, about, place, ticks_between(0, 1, 5), "exemplars" + each,
              [](double v) { return fmt::format("{:.0f} %", 100 * v); }) +
         path_of(axes, x, by_chance, "drawn") + path_of(axes, x, spans, "run") +
         names_at_end(axes, spans.back(), "these exemplars", by_chance.back(), "random points") +
         fmt::format(
             "<line class=\"mark\" x1=\"{0}\" x2=\"{0}\" y1=\"{1}\" y2=\"{2}\"/>"
             "<circle class=\"here\" cx=\"{0}\" cy=\"{3:.1f}\" r=\"6\"/></svg>\n",
             right, bottom, top, axes.y(spans.back()));
}

std::string trace_chart(const std::vector<Step>& trace) {
  std::vector<double> x, f, gap;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const auto logarithm = [&](double v) {
    if (!(v > 0) || !std::isfinite(v)) return std::numeric_limits<double>::quiet_NaN();
    const double power = std::log10(v);
    low = std::min(low, power), high = std::max(high, power);
    return power;
  };
  for (const Index t : evenly_spaced(std::ssize(trace), 1000)) {
    x.push_back(static_cast<double>(t));
    f.push_back(logarithm(trace[at(t)].f));
    gap.push_back(logarithm(trace[at(t)].gap));
  }
  if (!(low <= high)) return "";
  if (high - low < 1e-6) low -= 0.5, high += 0.5;
  low -= 0.12 * (high - low);  // room for a name below the lower curve
  const Axes axes{.x_high = std::max(1.0, x.back()), .y_low = low, .y_high = high};
  const auto last = [](const std::vector<double>& values) {
    const auto there =
        std::find_if(values.rbegin(), values.rend(), [](double v) { return std::isfinite(v); });
    return there == values.rend() ? std::numeric_limits<double>::quiet_NaN() : *there;
  };
  return plot(axes, fmt::format("Objective and gap over {}", counted(std::ssize(trace), "step")),
              "", powers_between(low, high), "step",
              [](double v) {
                const double value = std::pow(10, v);
                return value >= 1000 && value < 1e6 ? count_text(std::llround(value))
                                                    : fmt::format("{:.3g}", value);
              }) +
         path_of(axes, x, gap, "drawn") + path_of(axes, x, f, "run") +
         names_at_end(axes, last(f), "f", last(gap), "gap") + "</svg>\n";
}

}  // namespace fwsr::report
