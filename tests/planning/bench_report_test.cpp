#include "planning/memory/bench_report.h"

#include <gmock/gmock.h>

#include "base/json.h"

namespace tutti {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

BenchResult result_of(const std::string& type) {
  const BenchTrial trial{.setting = {.device = "cpu", .compute_type = type, .batch_size = 4}, .compute_type = type};
  return {.trials = {{.trial = trial}}, .reference = 0, .recommended = 0};
}

TEST(BenchReport, WithoutFloat32NamesTheSettingUsedAsReference) {
  EXPECT_THAT(bench_measure(result_of("float32")), IsEmpty());
  EXPECT_THAT(bench_measure({}), IsEmpty()) << "nothing ran at all";
  EXPECT_THAT(bench_measure(result_of("int8")), HasSubstr("those of cpu int8 batch 4"));
  EXPECT_EQ(nlohmann::json::parse(bench_json(result_of("int8")))["compared_with"], "cpu int8 batch 4");
}

}  // namespace
}  // namespace tutti
