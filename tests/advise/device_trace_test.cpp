// Why a device was idle, by what it did when.

#include "advise/device_trace.h"

#include <gtest/gtest.h>

#include "advise/repeated_steps.h"

namespace tutti {
namespace {

DeviceTrace trace_of(const std::vector<DeviceWork>& works) {
  DeviceTimeline timeline(30);
  for (const DeviceWork& work : works) timeline.add(work);
  return timeline.trace();
}

TEST(DeviceTimeline, GapIsSplitByItsLaunchAndItsLength) {
  const auto trace = trace_of({{.start = 0, .end = 100, .launched = -50},
                               {.start = 200, .end = 300, .launched = 101},  // launched after the gap began
                               {.start = 329, .end = 400, .launched = 300},  // 29 ns, launched before
                               {.start = 430, .end = 500, .launched = 399},  // 30 ns are no kernel wait
                               {.start = 600, .end = 700},                   // its launch is not known
                               {.start = 710, .end = 720}});                 // nor is this one's, 10 ns later
  EXPECT_EQ(trace.idle.host_wait, 100);
  EXPECT_EQ(trace.idle.kernel_wait, 29);
  EXPECT_EQ(trace.idle.other, 140);
  EXPECT_EQ(trace.busy, 451);
  EXPECT_EQ(trace.span, trace.busy + trace.idle.all());
}

TEST(DeviceTimeline, OneStreamsGapIsNoIdleTimeWhileAnotherWorks) {
  const auto trace = trace_of({{.start = 0, .end = 100, .launched = -9, .stream = 1},
                               {.start = 50, .end = 200, .launched = -9, .stream = 2},
                               {.start = 180, .end = 250, .launched = 150, .stream = 1}});
  EXPECT_EQ(trace.idle.all(), 0);
  EXPECT_EQ(trace.streams.at(1).host_wait, 80);
  EXPECT_EQ(trace.streams.at(2).all(), 0);
}

TEST(DeviceTimeline, CommunicationThatOverlapsIsNotCounted) {
  const auto trace = trace_of({{.start = 0, .end = 100, .stream = 1},
                               {.start = 50, .end = 180, .stream = 2, .kind = DeviceWorkKind::communication},
                               {.start = 170, .end = 190, .stream = 3, .kind = DeviceWorkKind::copy}});
  EXPECT_EQ(trace.communication, 70);
  EXPECT_EQ(trace.copying, 20);
}

TEST(TraceFinding, LargestPartOfTheTimeIsNamed) {
  DeviceTrace trace{.span = 100, .busy = 50, .idle = {.host_wait = 40, .kernel_wait = 4, .other = 6}};
  EXPECT_EQ(finding_of(trace).limit, TraceLimit::host_wait);
  EXPECT_EQ(finding_of(trace).cause, "launch thread");
  EXPECT_NEAR(finding_of(trace).gain, 1 / 0.6 - 1, 1e-9);
  trace.data_loading = 30;
  EXPECT_EQ(finding_of(trace).cause, "data loading");
  trace.data_loading = 0;
  trace.synchronising = 30;
  EXPECT_EQ(finding_of(trace).cause, "synchronisation");
  trace.communication = 45;
  EXPECT_EQ(finding_of(trace).limit, TraceLimit::communication);
  EXPECT_EQ(finding_of({.span = 100, .busy = 85, .idle = {.host_wait = 15}}).limit, TraceLimit::device);
}

std::optional<StepCount> steps_of(const std::string& names) {
  RepeatedSteps steps;
  Nanoseconds at = 0;
  for (const char name : names) steps.add(static_cast<std::uint64_t>(name) * 0x2545F4914F6CDD1D, at += 10);
  return steps.found();
}

TEST(RepeatedSteps, LongestRepetitionIsTheStep) {
  const auto steps = steps_of(
      "abbbcdbbb"
      "abbbcdbbb"
      "abbbcdbbb"
      "abbbcdbbb"
      "abbb");
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->count, 4U) << "d or c, of which the last step has none, or a";
  EXPECT_EQ(steps->length, 90);
}

TEST(RepeatedSteps, NamesWithoutOrderHaveNoSteps) {
  EXPECT_FALSE(steps_of("abcabdcbadcabdcabcdbabcdabdcacdb"));
  EXPECT_FALSE(steps_of("aaaaaaaaaaaaaaa"));
  EXPECT_FALSE(steps_of(""));
}

}  // namespace
}  // namespace tutti
