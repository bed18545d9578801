#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"

namespace tutti {

struct Bar {
  std::string label;
  double value = 0;
  std::string text{};  // beside the bar: the value as people read it, and what else is to say
  bool highlighted = false;
};

/// Horizontal bars from 0, one below the other, as a self-contained SVG. Labels may hold any characters.
std::string bar_chart_svg(const std::string& title, const std::vector<Bar>& bars);

/// One curve: points from left to right.
struct Curve {
  std::string label;
  std::vector<std::pair<double, double>> points{};
};

/// Panels one below the other over the same horizontal axis, each scaled to its own curve, as a self-contained SVG.
/// Points that are no finite numbers are left out; a panel without points is marked as such.
std::string line_chart_svg(const std::string& title, const std::string& axis, const std::vector<Curve>& curves);

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

/// How large a picture of values is; more of them are averaged.
struct GridPicture {
  std::int64_t most_columns = 96;
  std::int64_t most_rows = 32;
  std::int64_t scale = 4;  // pixels of a value
};

/// Values in greys, the largest black, as a self-contained SVG: row-major [columns, rows], columns from left to
/// right and rows from the bottom up, as a spectrogram is drawn. Neither may be 0.
std::string grid_picture_svg(std::span<const float> values, std::int64_t rows, const GridPicture& size = {});

}  // namespace tutti
