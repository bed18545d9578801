#include <algorithm>
#include <cstdio>

#include "view/charts.h"
#include "view/markup.h"

namespace tutti {
namespace {

constexpr int kWidth = 860, kLabels = 260, kTexts = 240, kRow = 26, kTop = 48;

std::string text_at(double x, int y, const char* anchor, const std::string& style, const std::string& text) {
  char head[96];
  std::snprintf(head, sizeof head, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\"", x, y, anchor);
  return head + (" " + style) + ">" + escaped_markup(text) + "</text>\n";
}

std::string row(const Bar& bar, double largest, int y) {
  const double length = largest > 0 ? bar.value / largest * (kWidth - kLabels - kTexts) : 0;
  char box[160];
  std::snprintf(box, sizeof box, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\" fill=\"%s\"/>\n",
                kLabels, y, length, kRow - 8, bar.highlighted ? "#2a7d4f" : "#7f9fbf");
  const std::string weight = bar.highlighted ? "font-weight=\"bold\"" : "";
  return text_at(kLabels - 8, y + 14, "end", weight, bar.label) + box +
         text_at(kLabels + length + 8, y + 14, "start", weight, bar.text);
}

}  // namespace

std::string bar_chart_svg(const std::string& title, const std::vector<Bar>& bars) {
  double largest = 0;
  for (const auto& bar : bars) largest = std::max(largest, bar.value);
  const int height = kTop + static_cast<int>(bars.size()) * kRow + 12;
  std::string svg = svg_head(kWidth, height) + text_at(16, 26, "start", "font-size=\"16\" font-weight=\"bold\"", title);
  int y = kTop;
  for (const auto& bar : bars) {
    svg += row(bar, largest, y);
    y += kRow;
  }
  return svg + "</svg>\n";
}

}  // namespace tutti
