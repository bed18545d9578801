#include "profile/processor_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace tutti {
namespace {

TEST(ShareOnCore, WaitingIsWhatTheProcessorDidNotTake) {
  EXPECT_DOUBLE_EQ(share_on_core(Seconds(2), Seconds(8), Seconds(2.5), Seconds(16)), 0.25);
  EXPECT_DOUBLE_EQ(share_on_core(Seconds(9), Seconds(8), Seconds(9), Seconds(16)), 1);
}

TEST(ShareOnCore, FullMachineHidesWhatWasWaitedFor) {
  EXPECT_EQ(share_on_core(Seconds(2), Seconds(8), Seconds(15), Seconds(16)), 1) << "perhaps for a core";
  EXPECT_EQ(share_on_core(Seconds(0), Seconds(0), Seconds(0), Seconds(16)), 1);
}

TEST(ShareOnCore, StageThatSleepsHoldsNoCoreUnlessTheMachineIsFull) {
  const ProcessorWatch watch;
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  RunRecording recording{.command = "features", .cores = 64};
  recording.stages.push_back({.name = "decode", .items = {Seconds(0.06)}});
  recording.stages.push_back({.name = "write", .resource = StageResource::io, .items = {Seconds(0.06)}});
  watch.note(recording);
  EXPECT_TRUE(recording.stages[0].on_core < 0.5 || recording.stages[0].on_core == 1);
  EXPECT_EQ(recording.stages[1].on_core, 1);
}

}  // namespace
}  // namespace tutti
