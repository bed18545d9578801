#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>

#include "base/time_text.h"
#include "view/charts.h"
#include "view/markup.h"
#include "view/text.h"

namespace tutti {
namespace {

constexpr double kWidth = 860, kLeft = 60, kRight = 24, kTop = 48, kPlot = 300, kLegendRow = 20;
// Okabe and Ito's colours, which people with any colour vision can tell apart.
constexpr std::array kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"};

template <class... Values>
std::string printed(const char* format, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

/// 1, 2 or 5 times a power of ten: about `count` steps up to `largest`.
double step_for(double largest, int count) {
  const double raw = largest / count, power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (raw <= factor * power) return factor * power;
  return 10 * power;
}

std::string date_text(double at, bool with_time) {
  return utc_text(static_cast<std::time_t>(at), with_time ? "%m-%d %H:%M" : "%Y-%m-%d");
}

/// Where values and moments lie in the picture.
struct Scale {
  double first = 0, last = 0, largest = 0;

  double x(double at) const {
    const double share = last > first ? (at - first) / (last - first) : 0.5;
    return kLeft + 10 + share * (kWidth - kLeft - kRight - 20);
  }
  double y(double value) const { return kTop + kPlot * (1 - value / largest); }
};

Scale scale_of(const std::vector<TimeSeries>& series) {
  Scale scale{.first = std::numeric_limits<double>::max(), .last = 0, .largest = 0};
  for (const auto& each : series)
    for (const auto& point : each.points) {
      scale.first = std::min(scale.first, point.at);
      scale.last = std::max(scale.last, point.at);
      scale.largest = std::max(scale.largest, point.value);
    }
  if (!(scale.largest > 0)) scale.largest = 1;
  scale.largest = step_for(scale.largest, 5) * std::ceil(scale.largest / step_for(scale.largest, 5));
  return scale;
}

std::string axes(const Scale& scale) {
  std::string svg;
  const double step = step_for(scale.largest, 5);
  for (int i = 0; i * step <= scale.largest * 1.001; ++i) {
    const double y = scale.y(i * step);
    svg += printed("<line x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", kLeft, y,
                   kWidth - kRight, y);
    svg += printed("<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">", kLeft - 8, y + 4) + short_number(i * step) +
           "</text>\n";
  }
  constexpr int kDates = 5;
  const int dates = scale.last > scale.first ? kDates : 1;
  for (int i = 0; i < dates; ++i) {
    const double at = scale.first + (dates > 1 ? (scale.last - scale.first) * i / (dates - 1) : 0);
    svg += printed("<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">", scale.x(at), kTop + kPlot + 20) +
           date_text(at, scale.last - scale.first < 5 * 86400) + "</text>\n";
  }
  return svg;
}

/// A circle, square, diamond or triangle around a point.
std::string mark(std::size_t shape, double x, double y, const std::string& colour) {
  const std::string fill = " fill=\"" + colour + "\"/>\n";
  switch (shape % 4) {
    case 0: return printed("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"", x, y) + fill;
    case 1: return printed("<rect x=\"%.1f\" y=\"%.1f\" width=\"7\" height=\"7\"", x - 3.5, y - 3.5) + fill;
    case 2: return printed("<path d=\"M%.1f %.1fl4.5 4.5 -4.5 4.5 -4.5 -4.5z\"", x, y - 4.5) + fill;
    default: return printed("<path d=\"M%.1f %.1fl4.5 8h-9z\"", x, y - 4.5) + fill;
  }
}

std::string drawn(const TimeSeries& series, const Scale& scale, std::size_t index, double longest_gap) {
  const std::string colour = kColours[index % kColours.size()];
  std::string svg, path;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const auto& point = series.points[i];
    const bool joined = i > 0 && point.at - series.points[i - 1].at <= longest_gap;
    path += printed("%c%.1f %.1f", joined ? 'L' : 'M', scale.x(point.at), scale.y(point.value));
    svg += mark(index, scale.x(point.at), scale.y(point.value), colour);
  }
  const double y = kTop + kPlot + 44 + kLegendRow * static_cast<double>(index);
  svg += mark(index, kLeft + 4, y, colour) + printed("<text x=\"%.0f\" y=\"%.1f\">", kLeft + 16, y + 4) +
         escaped_markup(series.label) + "</text>\n";
  return "<path d=\"" + path + "\" fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"1.5\"/>\n" + svg;
}

}  // namespace

std::string time_chart_svg(const std::string& title, const std::vector<TimeSeries>& series, Seconds longest_gap) {
  const double height = kTop + kPlot + 40 + kLegendRow * static_cast<double>(series.size()) + 8;
  std::string svg = svg_head(kWidth, height) + "<text x=\"16\" y=\"26\" font-size=\"16\" font-weight=\"bold\">" +
                    escaped_markup(title) + "</text>\n";
  const bool empty = std::ranges::all_of(series, [](const TimeSeries& each) { return each.points.empty(); });
  if (empty) return svg + printed("<text x=\"%.0f\" y=\"%.0f\">nothing yet</text>\n</svg>\n", kLeft, kTop + 40);
  const Scale scale = scale_of(series);
  svg += axes(scale);
  for (std::size_t i = 0; i < series.size(); ++i) svg += drawn(series[i], scale, i, longest_gap.count());
  return svg + "</svg>\n";
}

}  // namespace tutti
