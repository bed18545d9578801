#include "advise/change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/planted_stages.h"

namespace tutti {
namespace {

using testing::HasSubstr;

PipelineModel two_stages() {
  return {2, {even_stage("decode", StageResource::cpu, 1, 10), even_stage("write", StageResource::io, 1, 5)}};
}

TEST(Change, ReadsEveryKindAndWritesItBack) {
  for (const auto* text : {"decode.threads=4", "write.queue=100000", "decode.speed=2", "decode.speed=1.5", "cores=8"}) {
    const auto change = parse_change(text, two_stages());
    ASSERT_TRUE(change) << change.error().text();
    EXPECT_EQ(change->text(), text);
  }
}

TEST(Change, ChangesTheSettingAndNothingElse) {
  const auto pipeline = changed(two_stages(), *parse_change("write.threads=3", two_stages()));
  EXPECT_EQ(pipeline.stages[1].threads, 3);
  EXPECT_EQ(pipeline.stages[0].threads, 1);
  EXPECT_EQ(changed(pipeline, {.key = "cores", .value = 5}).cores, 5);
  EXPECT_EQ(changed(pipeline, {"write", "speed", 2}).stages[1].service(0), Seconds(0.0025));
}

TEST(Change, ThreadsOfOneFlagAreSetTogether) {
  PipelineModel pipeline = two_stages();
  for (StageModel& stage : pipeline.stages) stage.threads_flag = "--threads";
  pipeline.stages.push_back(even_stage("read", StageResource::io, 1, 10));
  const auto found = changed(pipeline, {"write", "threads", 3});
  EXPECT_EQ(found.stages[0].threads, 3);
  EXPECT_EQ(found.stages[1].threads, 3);
  EXPECT_EQ(found.stages[2].threads, 1) << "no flag sets it";
}

TEST(Change, UnknownNamesGetTheNearestOne) {
  EXPECT_THAT(parse_change("decoed.threads=2", two_stages()).error().text(), HasSubstr("Did you mean 'decode'?"));
  EXPECT_THAT(parse_change("write.thread=2", two_stages()).error().text(), HasSubstr("Did you mean 'write.threads'?"));
  EXPECT_THAT(parse_change("zzzzzzzz.threads=2", two_stages()).error().text(), HasSubstr("decode, write"));
}

TEST(Change, RefusesWhatIsNoValue) {
  for (const auto* text :
       {"decode.threads=0", "decode.threads=1.5", "decode.threads=", "decode.threads=many", "decode.queue=-1",
        "decode.speed=0", "decode.speed=nan", "cores=0", "decode.threads", "threads=2"}) {
    const auto change = parse_change(text, two_stages());
    ASSERT_FALSE(change) << text;
    EXPECT_EQ(change.error().fault, Fault::usage);
  }
}

}  // namespace
}  // namespace tutti
