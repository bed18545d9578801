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
            "the network limits the run and costs 31.6 % of its time; the network twice as fast would gain 46 %.");
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
