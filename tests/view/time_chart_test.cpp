#include <gmock/gmock.h>

#include <algorithm>

#include "view/charts.h"

namespace tutti {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// The commands of the line of the only series.
std::string line_of(const std::string& svg) {
  const std::size_t at = svg.find("<path d=\"") + 9;
  return svg.substr(at, svg.find('"', at) - at);
}

TEST(TimeChart, PointsFarApartAreNotJoined) {
  const std::string svg = time_chart_svg("speeds", {{"big", {{0, 10}, {60, 12}, {9000, 11}}}}, Seconds(3600));
  const std::string line = line_of(svg);
  EXPECT_EQ(std::ranges::count(line, 'M'), 2);
  EXPECT_EQ(std::ranges::count(line, 'L'), 1);
  EXPECT_EQ(count(svg, "<circle"), 4U);  // three points and the legend
}

TEST(TimeChart, LabelsCannotBecomeMarkup) {
  const std::string svg = time_chart_svg("a & b", {{"<script>", {{0, 1}}}}, Seconds(1));
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(svg, HasSubstr("a &amp; b"));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
}

TEST(TimeChart, EmptyChartShowsNothingYet) {
  EXPECT_THAT(time_chart_svg("speeds", {}, Seconds(1)), HasSubstr("nothing yet"));
  EXPECT_THAT(time_chart_svg("speeds", {{"zero", {{5, 0}}}}, Seconds(1)), Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace tutti
