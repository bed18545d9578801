#include "profile/serial_run.h"

#include <gtest/gtest.h>

#include "support/fake_clock.h"

namespace tutti {
namespace {

bool spend(FakeClock& clock, std::chrono::milliseconds time) {
  clock.advance(time);
  return true;
}

TEST(SerialRun, LongestPhaseIsNamedWithItsGain) {
  FakeClock clock;
  SerialRun run(clock);
  for (int i = 0; i < 4; ++i) {
    run.measure("reading", [&] { return spend(clock, std::chrono::milliseconds(1000)); });
    run.measure("the network", [&] { return spend(clock, std::chrono::milliseconds(3000)); });
    clock.advance(std::chrono::milliseconds(1000));  // none of both
  }
  // Of 19 s the network takes 12: twice as fast it saves 6.
  EXPECT_EQ(run.finding(),
            "the network limits the run: twice as fast it would save 31.6 % of the time, which gains 46 %.");
}

TEST(SerialRun, RecordingIsExplainedByItsReplay) {
  FakeClock clock;
  SerialRun run(clock);
  run.measure("opening", [&] { return spend(clock, std::chrono::milliseconds(400)); });
  for (int i = 0; i < 10; ++i) {
    run.measure("reading", [&] { return spend(clock, std::chrono::milliseconds(100)); });
    run.measure("the network", [&] { return spend(clock, std::chrono::milliseconds(300)); });
  }
  const RunRecording recording = run.recording("classify", "batches");
  EXPECT_EQ(recording.stages.size(), 3U);
  EXPECT_LT(model_error(recording), 0.001);
  const auto found = diagnose(recording);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->limit.stage, "the network");
  // Of 4.4 s it takes 3: twice as fast it saves 1.5.
  EXPECT_NEAR(found->limit.share, 1.5 / 4.4, 0.001);
}

TEST(SerialRun, ShortRunHasNoFinding) {
  FakeClock clock;
  SerialRun run(clock);
  EXPECT_EQ(run.finding(), "");
  run.measure("reading", [&] { return spend(clock, std::chrono::milliseconds(1900)); });
  EXPECT_EQ(run.finding(), "");
}

}  // namespace
}  // namespace tutti
