#include <gtest/gtest.h>

#include "view/charts.h"

using namespace tutti;

TEST(GridPicture, HoldsAPngOfItsSize) {
  const std::vector<float> values{0, 1, 2, 3, 4, 5};
  const auto svg = grid_picture_svg(values, 2, {.most_columns = 96, .most_rows = 32, .scale = 4});
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"12\" height=\"8\">")) << svg;
  // The signature, and the head of a picture of 3 by 2.
  EXPECT_NE(svg.find("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAMAAAAC"), std::string::npos) << svg;
}

TEST(GridPicture, ManyColumnsAreAveraged) {
  const std::vector<float> values(1000, 1);
  EXPECT_NE(grid_picture_svg(values, 1, {.most_columns = 10}).find("width=\"40\""), std::string::npos);
}
