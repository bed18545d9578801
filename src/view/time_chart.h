#pragma once

#include <string>
#include <vector>

#include "base/units.h"

namespace tutti {

/// A value at a moment, in seconds since 1970.
struct TimePoint {
  double at = 0;
  double value = 0;
};

struct TimeSeries {
  std::string label{};
  std::vector<TimePoint> points{};  // in the order of time
};

/// Values over time as a self-contained SVG, from 0 up: a dot per point, a colour and a shape per series, so that it
/// can be read without colours. Points further apart than `longest_gap` are not joined: a gap is a gap. Dates are UTC.
std::string time_chart_svg(const std::string& title, const std::vector<TimeSeries>& series, Seconds longest_gap);

}  // namespace tutti
