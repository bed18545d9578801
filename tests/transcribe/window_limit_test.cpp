#include "transcribe/window_limit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "support/eventually.h"
#include "transcribe/scripted_engine.h"
#include "transcribe/worker_stage.h"

using namespace tutti;

namespace {

const std::vector<float> kMel(80 * 100);

Result<Opened> open(WindowLimit& windows, WindowId window) {
  return windows.open({.window = window, .n_mels = 80, .frames = 100}, kMel);
}

}  // namespace

TEST(WindowLimit, OpeningWaitsUntilAWindowIsReleased) {
  ScriptedEngine engine;
  WindowLimit windows(engine, 2);
  ASSERT_TRUE(open(windows, 1) && open(windows, 2));
  std::atomic<bool> begun = false;
  std::jthread third([&] {
    begun = true;
    EXPECT_TRUE(open(windows, 3));
    EXPECT_EQ(engine.open_now.size(), 2U) << "never more than two";
  });
  eventually([&] { return begun.load(); });
  windows.release(1);
  third.join();
  EXPECT_EQ(engine.opened, (std::vector<WindowId>{1, 2, 3}));
}

TEST(WindowLimit, WindowThatCannotBeOpenedLeavesItsSpace) {
  ScriptedEngine engine;
  WindowLimit windows(engine, 1);
  engine.fails = true;
  EXPECT_EQ(open(windows, 1).error().fault, Fault::device);
  engine.fails = false;
  EXPECT_TRUE(open(windows, 2)) << "else it would wait for ever";
}

TEST(WorkerStage, AddsTheDeviceAndWhatItsThreadsCompute) {
  WorkerStage worker;
  worker.note({.features = Seconds(0.5), .encoder = Seconds(1), .decoder = Seconds(2), .waiting = Seconds(40)});
  PipelineReport report;
  report.stages.push_back(measured_stage("align", {}, 7));
  worker.add_to(report, "align", 2);
  ASSERT_EQ(report.stages.size(), 3U);
  EXPECT_EQ(report.stages[1].name, WorkerStage::kFeatures);
  EXPECT_EQ(report.stages[1].threads.all(), 7);
  EXPECT_DOUBLE_EQ(Seconds(report.stages[1].times.busy).count(), 0.5);
  EXPECT_EQ(report.stages[2].name, WorkerStage::kDevice);
  EXPECT_EQ(report.stages[2].threads.all(), 2);
  EXPECT_DOUBLE_EQ(report.stages[2].service.mean(), 3) << "what the thread waited beside that is not the device's";
}
