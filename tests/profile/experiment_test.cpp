// What experiments print.

#include "profile/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

namespace tutti {
namespace {

using testing::HasSubstr;
using testing::Not;

Experiments two_stages() {
  return {.unit = "files",
          .rate = 10,
          .stages = {{.stage = "decode", .predicted = Fix{{}, 15, 14, 16}, .measured = 14.8},
                     {.stage = "print", .measured = 9.97}}};
}

TEST(Experiments, TableHasPredictedAndMeasuredGains) {
  const std::string text = experiments_text(two_stages());
  EXPECT_THAT(text, HasSubstr("decode             +50 %  +40 %  +60 %     +48 %     14.8\n"));
  EXPECT_THAT(text, HasSubstr("print                                       +0 %     10.0\n")) << "nothing predicted";
  EXPECT_THAT(text, Not(HasSubstr("waited for a processor")));
}

TEST(Experiments, TableNamesWaitsForAProcessor) {
  Experiments experiments = two_stages();
  experiments.cpu_stall = 0.34;
  EXPECT_THAT(experiments_text(experiments), HasSubstr("\nPrograms waited for a processor 34 % of the time"));
}

TEST(Experiments, JsonHasGainsAsShares) {
  const auto json = experiments_json(two_stages());
  EXPECT_EQ(json[0]["predicted_gain"], 0.5);
  EXPECT_EQ(json[0]["measured_gain"], 0.48);
  EXPECT_EQ(json[1]["measured_gain"], -0.003);
  EXPECT_FALSE(json[1].contains("predicted_items_per_s"));
}

}  // namespace
}  // namespace tutti
