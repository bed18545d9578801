#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "view/charts.h"

using namespace tutti;
using testing::HasSubstr;
using testing::Not;

TEST(BarChart, ABarIsAsLongAsItsValueBesideTheLargest) {
  const std::string svg = bar_chart_svg("speeds", {{.label = "one", .value = 10}, {.label = "two", .value = 40}});
  std::vector<double> lengths;
  const std::regex bar("<rect x=[^>]*width=\"([0-9.]+)\"");
  for (std::sregex_iterator at(svg.begin(), svg.end(), bar), end; at != end; ++at)
    lengths.push_back(std::stod((*at)[1]));
  ASSERT_EQ(lengths.size(), 2U);
  EXPECT_DOUBLE_EQ(lengths[0] * 4, lengths[1]);
}

TEST(BarChart, LabelsMayHoldAnyCharacters) {
  const std::string svg = bar_chart_svg("a < b & c", {{.label = "<x>", .value = 1}});
  EXPECT_THAT(svg, HasSubstr("a &lt; b &amp; c"));
  EXPECT_THAT(svg, Not(HasSubstr("<x>")));
}

TEST(BarChart, WithoutAnyValueThereIsNoBarToScaleBy) {
  EXPECT_THAT(bar_chart_svg("none", {{.label = "zero", .value = 0}}), HasSubstr("width=\"0.0\""));
}
