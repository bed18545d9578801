#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tutti {

/// One curve: points from left to right.
struct Curve {
  std::string label;
  std::vector<std::pair<double, double>> points{};
};

/// Panels one below the other over the same horizontal axis, each scaled to its own curve, as a self-contained SVG.
/// Points that are no finite numbers are left out; a panel without points is marked as such.
std::string line_chart_svg(const std::string& title, const std::string& axis, const std::vector<Curve>& curves);

}  // namespace tutti
