#pragma once

#include <string>
#include <vector>

namespace tutti {

struct Bar {
  std::string label;
  double value = 0;
  std::string text{};  // beside the bar: the value as people read it, and what else is to say
  bool highlighted = false;
};

/// Horizontal bars from 0, one below the other, as a self-contained SVG. Labels may hold any characters.
std::string bar_chart_svg(const std::string& title, const std::vector<Bar>& bars);

}  // namespace tutti
