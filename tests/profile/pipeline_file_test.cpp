#include "profile/pipeline_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti {
namespace {

using testing::HasSubstr;

constexpr std::string_view kWhole = R"(
cores = 4
seconds = 2.5
[[stage]]
name = "decode"
kind = "cpu"
threads = 2
mean_ms = 12.0
cv = 0.3
stall_share = 0.02
stall_ms = 300.0
queue = 16
[[stage]]
name = "step"
kind = "device"
mean_ms = 7
)";

std::string error_of(std::string_view toml) {
  const auto read = parse_pipeline(toml, "f.toml");
  EXPECT_FALSE(read) << toml;
  if (read) return "";
  EXPECT_EQ(read.error().fault, Fault::usage);
  return read.error().text();
}

std::string stage_with(const std::string& lines) {
  return "[[stage]]\nname = \"decode\"\n" + lines;
}

TEST(PipelineFile, ReadsEveryKey) {
  const auto read = parse_pipeline(kWhole, "f.toml");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->pipeline.cores, 4);
  EXPECT_EQ(read->length, Seconds(2.5));
  ASSERT_EQ(read->pipeline.stages.size(), 2U);
  const StageModel& decode = read->pipeline.stages[0];
  EXPECT_EQ(decode.name, "decode");
  EXPECT_EQ(decode.resource, StageResource::cpu);
  EXPECT_EQ(decode.threads, 2);
  EXPECT_EQ(decode.queue, 16U);
  EXPECT_NEAR(mean_service(decode).count(), 0.012 + 0.02 * 0.3, 0.0002);
  EXPECT_EQ(read->pipeline.stages[1].threads, 1);
}

TEST(PipelineFile, WholeNumbersAreNumbers) {
  EXPECT_TRUE(parse_pipeline(
      "seconds = 3\n" + stage_with("kind = \"io\"\nmean_ms = 12\ncv = 1\nstall_share = 1\nstall_ms = 2\n"), "f.toml"));
}

TEST(PipelineFile, ErrorsNameFileStageAndKey) {
  const struct {
    std::string lines, key, found;
  } cases[] = {{"kind = \"gpus\"\nmean_ms = 1\n", "'kind'", "'gpus'"},
               {"kind = \"cpu\"\nmean_ms = 1\nthreads = 0\n", "'threads'", "found 0"},
               {"kind = \"cpu\"\nmean_ms = 1\nthreads = 1.5\n", "'threads'", "found 1.5"},
               {"kind = \"cpu\"\nmean_ms = -1\n", "'mean_ms'", "found -1"},
               {"kind = \"cpu\"\nmean_ms = nan\n", "'mean_ms'", "found nan"},
               {"kind = \"cpu\"\n", "'mean_ms'", "found nothing"},
               {"mean_ms = 1\n", "'kind'", "found nothing"},
               {"kind = \"cpu\"\nmean_ms = 1\nqueue = 0\n", "'queue'", "found 0"},
               {"kind = \"cpu\"\nmean_ms = 1\nstall_ms = -5\n", "'stall_ms'", "found -5"},
               {"kind = \"cpu\"\nmean_ms = 1\nstall_share = 1.5\n", "'stall_share'", "found 1.5"},
               {"kind = \"cpu\"\nmean_ms = \"1\"\n", "'mean_ms'", "found '1'"},
               {"kind = \"cpu\"\nmean_ms = 1\nthread = 2\n", "'thread'", "Did you mean 'threads'?"}};
  for (const auto& it : cases) {
    const auto text = error_of(stage_with(it.lines));
    EXPECT_THAT(text, HasSubstr("f.toml:"));
    EXPECT_THAT(text, HasSubstr("stage 'decode'"));
    EXPECT_THAT(text, HasSubstr(it.key));
    EXPECT_THAT(text, HasSubstr(it.found));
  }
}

TEST(PipelineFile, RefusesFileWithoutAStage) {
  EXPECT_THAT(error_of("cores = 2\n"), HasSubstr("[[stage]]"));
  EXPECT_THAT(error_of("stage = 3\n"), HasSubstr("'stage'"));
}

TEST(PipelineFile, RefusesSameNameTwice) {
  const auto one = stage_with("kind = \"cpu\"\nmean_ms = 1\n");
  EXPECT_THAT(error_of(one + one), HasSubstr("a name of its own"));
}

TEST(PipelineFile, RefusesStagesThatTakeNoTime) {
  EXPECT_THAT(error_of(stage_with("kind = \"cpu\"\nmean_ms = 0\n")), HasSubstr("more than 0"));
}

TEST(PipelineFile, RefusesSenselessCoresAndSeconds) {
  const auto one = stage_with("kind = \"cpu\"\nmean_ms = 1\n");
  EXPECT_THAT(error_of("cores = 0\n" + one), HasSubstr("'cores'"));
  EXPECT_THAT(error_of("seconds = 0\n" + one), HasSubstr("'seconds'"));
  EXPECT_THAT(error_of("core = 1\n" + one), HasSubstr("Did you mean 'cores'?"));
}

TEST(PipelineFile, SyntaxErrorIsAUsageError) {
  EXPECT_THAT(error_of("[[stage]\n"), HasSubstr("f.toml:1:"));
}

}  // namespace
}  // namespace tutti
