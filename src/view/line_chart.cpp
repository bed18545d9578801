#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "view/charts.h"
#include "view/markup.h"
#include "view/text.h"

namespace tutti {
namespace {

constexpr int kWidth = 860, kLeft = 70, kRight = 20, kTop = 44, kPanel = 150, kGap = 34;

struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void take(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  /// The position of `value`, 0 to 1; the middle where there is but one value.
  double share(double value) const { return most > least ? (value - least) / (most - least) : 0.5; }
};

std::vector<std::pair<double, double>> finite_points(const Curve& curve) {
  auto points = curve.points;
  std::erase_if(points, [](const auto& p) { return !std::isfinite(p.first) || !std::isfinite(p.second); });
  return points;
}

/// Labels are our own words: no character of them needs escaping in XML.
std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  char head[96];
  std::snprintf(head, sizeof head, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
  return head + text + "</text>\n";
}

std::string panel(const Curve& curve, const Range& across, int top) {
  const auto points = finite_points(curve);
  char frame[200];
  std::snprintf(frame, sizeof frame,
                "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#cccccc\"/>\n", kLeft, top,
                kWidth - kLeft - kRight, kPanel);
  std::string svg = frame + text_at(kLeft, top - 6, "start", curve.label);
  if (points.empty()) return svg + text_at(kWidth / 2.0, top + kPanel / 2.0, "middle", "nothing yet");
  Range up;
  for (const auto& point : points) up.take(point.second);
  std::string path;
  for (const auto& [x, y] : points) {
    char at[64];
    std::snprintf(at, sizeof at, "%.1f,%.1f ", kLeft + across.share(x) * (kWidth - kLeft - kRight),
                  top + kPanel - 6 - up.share(y) * (kPanel - 12));
    path += at;
  }
  return svg + "<polyline fill=\"none\" stroke=\"#2a7d4f\" stroke-width=\"1.5\" points=\"" + path + "\"/>\n" +
         text_at(kLeft - 6, top + 14, "end", short_number(up.most)) +
         text_at(kLeft - 6, top + kPanel - 4, "end", short_number(up.least));
}

}  // namespace

std::string line_chart_svg(const std::string& title, const std::string& axis, const std::vector<Curve>& curves) {
  Range across;
  for (const auto& curve : curves)
    for (const auto& point : finite_points(curve)) across.take(point.first);
  const int height = kTop + static_cast<int>(curves.size()) * (kPanel + kGap) + 16;
  std::string svg = svg_head(kWidth, height) + text_at(16, 22, "start", title);
  int top = kTop + 12;
  for (const auto& curve : curves) {
    svg += panel(curve, across, top);
    top += kPanel + kGap;
  }
  if (across.least <= across.most)
    svg += text_at(kLeft, top - kGap + 16, "start", short_number(across.least)) +
           text_at(kWidth - kRight, top - kGap + 16, "end", axis + " " + short_number(across.most));
  return svg + "</svg>\n";
}

}  // namespace tutti
