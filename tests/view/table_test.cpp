#include "view/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti {
namespace {

using testing::ElementsAre;

TEST(TextTable, ColumnsOfOneConstantBecomeALine) {
  TextTable table{.columns = {{"GPU"}, {"batch", true}, {"ring-depth", true}, {"network", true}},
                  .rows = {{"24GB", "8", "3", "20 MB"}, {"24GB", "4", "3", "20 MB"}}};
  EXPECT_EQ(take_constant_columns(table), "ring-depth 3, network 20 MB");
  EXPECT_THAT(lay_out(table, 80), ElementsAre("GPU   batch", "24GB      8", "24GB      4"));
  EXPECT_EQ(take_constant_columns(table), "");
}

TEST(TextTable, OneRowKeepsItsColumns) {
  TextTable table{.columns = {{"GPU"}, {"batch", true}}, .rows = {{"24GB", "8"}}};
  EXPECT_EQ(take_constant_columns(table), "");
  EXPECT_EQ(table.columns.size(), 2U);
}

}  // namespace
}  // namespace tutti
