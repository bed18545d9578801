#include "profile/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "profile/recorded_run.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::HasSubstr;

/// A run of 20 s whose device is busy by `busy`, interval by interval, and does `rates` items a second.
RunRecording run_of(const std::vector<double>& rates, const std::vector<double>& busy) {
  RunRecording recording{.command = "train", .unit = "steps", .cores = 2};
  StageTimeline stage{.name = "step", .busy = busy, .queue = std::vector<double>(busy.size(), 0)};
  double done = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    done += rates[i];
    recording.timeline.at.push_back(static_cast<double>(i + 1));
    recording.timeline.done.push_back(static_cast<std::size_t>(done));
  }
  recording.timeline.stages.push_back(std::move(stage));
  recording.elapsed = Seconds(static_cast<double>(rates.size()));
  recording.stages.push_back({.name = "step",
                              .resource = StageResource::device,
                              .items = std::vector<Seconds>(static_cast<std::size_t>(done), Seconds(0.05))});
  return recording;
}

std::vector<double> around(double rate) {
  std::vector<double> rates(20, rate);
  for (std::size_t i = 0; i < rates.size(); ++i) rates[i] += i % 2 == 0 ? 1 : -1;
  return rates;
}

class Comparison : public testing::Test {
 protected:
  ComparedRun read(const char* name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    auto run = read_profile(folder_ / name);
    EXPECT_TRUE(run) << (run ? "" : run.error().text());
    return run.value_or(ComparedRun{});
  }
  ComparedRun profiled(const char* name, const RunRecording& recording) {
    return read(name, "epoch 1: 12 steps, 0:04\n" + profile_json({recording}) + "\n");
  }
  const TempFolder folder_{};
};

TEST_F(Comparison, FasterRunIsReportedWithItsRange) {
  const auto before = profiled("a.json", run_of(around(10), std::vector<double>(20, 0.35)));
  const auto after = profiled("b.json", run_of(around(20), std::vector<double>(20, 0.9)));
  const auto text = comparison_text(before, after);
  EXPECT_THAT(text, HasSubstr("b.json is faster than a.json: +100.0 % steps a second"));
  EXPECT_THAT(text, HasSubstr("90.0 %"));
  EXPECT_THAT(comparison_json(before, after), HasSubstr("\"is_certain\":true"));
}

TEST_F(Comparison, UnevenRunsThatAreCloseShowNoDifference) {
  std::vector<double> uneven(20, 10);
  for (std::size_t i = 0; i < uneven.size(); ++i) uneven[i] = i % 2 == 0 ? 19 : 1;
  const std::vector<double> busy(20, 0.5);
  std::vector<double> other = uneven;
  other[0] += 4;
  const auto text = comparison_text(profiled("a.json", run_of(uneven, busy)), profiled("b.json", run_of(other, busy)));
  EXPECT_THAT(text, HasSubstr("No difference is certain"));
}

TEST_F(Comparison, DifferenceOfTwoRunsOfTheSameWorkIsNotCertain) {
  const std::vector<double> busy(20, 0.5);
  const auto run = [&](const char* name, double rate) {
    return profiled(name, run_of(std::vector<double>(20, rate), busy));
  };
  auto before = run("a.json", 100), after = run("b.json", 104);
  before.error = after.error = 0.01;  // both are even
  EXPECT_THAT(comparison_text(before, after), HasSubstr("No difference is certain: +4.0 %"));
  after.rate = 110;
  EXPECT_THAT(comparison_text(before, after), HasSubstr("b.json is faster than a.json: +10.0 %"));
}

TEST_F(Comparison, SpikesToFullAndBackAreBursty) {
  std::vector<double> spikes(20, 0.95);
  for (std::size_t i = 0; i < spikes.size(); i += 2) spikes[i] = 0.02;
  const auto run = profiled("a.json", run_of(around(10), spikes));
  ASSERT_TRUE(run.utilisation);
  EXPECT_TRUE(run.utilisation->is_bursty);
  EXPECT_NEAR(run.utilisation->mean, 0.485, 1e-9);
  EXPECT_NEAR(run.utilisation->variance, 0.465 * 0.465, 1e-6);
  EXPECT_FALSE(profiled("b.json", run_of(around(10), std::vector<double>(20, 0.9))).utilisation->is_bursty);
}

TEST_F(Comparison, ProfileWithoutATimelineHasNoRange) {
  const auto pipeline = read("a.json", R"({"items_per_s": 80, "limit": null, "stages": []})");
  EXPECT_THAT(comparison_text(pipeline, pipeline), HasSubstr("is not known"));
  EXPECT_THAT(comparison_text(pipeline, pipeline), testing::Not(HasSubstr("variance")));
}

TEST_F(Comparison, OtherFilesAreRefused) {
  std::ofstream(folder_ / "c.json") << "no JSON\n";
  EXPECT_EQ(read_profile(folder_ / "c.json").error().fault, Fault::corrupt);
  std::ofstream(folder_ / "d.json") << "{\"a\": 1}\n";
  EXPECT_EQ(read_profile(folder_ / "d.json").error().fault, Fault::corrupt);
  EXPECT_THAT(read_profile(folder_ / "d.json").error().what, testing::EndsWith("found JSON without 'items_per_s'"));
  EXPECT_FALSE(read_profile(folder_ / "missing.json"));
}

}  // namespace
}  // namespace tutti
