#include <gtest/gtest.h>

#include <chrono>

#include "support/fake_clock.h"
#include "worker/self_test.h"

namespace tutti {
namespace {

using std::chrono::milliseconds;

/// A device whose calls take the time that the test sets, on a clock of its own.
struct ScriptedDevice {
  FakeClock clock{};
  int encodings = 0, steps = 0;
  std::function<int(int)> encoding_ms = [](int) { return 40; };  // by the number of calls before
  std::function<int(int)> step_ms = [](int) { return 4; };

  double window() {
    return window_time([this] { clock.advance(milliseconds(encoding_ms(encodings++))); },
                       [this] { clock.advance(milliseconds(step_ms(steps++))); }, clock)
        .count();
  }
  double elapsed() const { return Seconds(clock.now() - begun).count(); }
  Clock::Instant begun = clock.now();
};

TEST(WindowTime, IsAnEncodingAndAnEighthOfAHundredSteps) {
  ScriptedDevice device;
  EXPECT_NEAR(device.window(), 0.040 + 100.0 / 8 * 0.004, 1e-9);
}

TEST(WindowTime, FirstCallsThatWarmUpDoNotCount) {
  ScriptedDevice device;
  device.encoding_ms = [](int call) { return call == 0 ? 4000 : 40; };
  device.step_ms = [](int call) { return call == 0 ? 2000 : 4; };
  EXPECT_NEAR(device.window(), 0.040 + 100.0 / 8 * 0.004, 1e-9);
}

// A busy machine once stretched the first steps to 0.6 s: the estimate was 7.9 s for a window within 3.1 s.
TEST(WindowTime, StepsThatOtherWorkDelaysDoNotCount) {
  ScriptedDevice device;
  device.step_ms = [](int call) { return call < 5 ? 600 : 4; };
  EXPECT_NEAR(device.window(), 0.040 + 100.0 / 8 * 0.004, 1e-9);
}

TEST(WindowTime, IsNeverMoreThanTheCallsTook) {
  for (const int step : {1, 30, 200, 600, 5000}) {
    ScriptedDevice device;
    device.encoding_ms = [step](int) { return 10 * step; };
    device.step_ms = [step](int) { return step; };
    const double window = device.window();
    EXPECT_LE(window, device.elapsed()) << step;
  }
}

TEST(WindowTime, SlowDeviceMeasuresOnlyOneWindow) {
  ScriptedDevice device;
  device.encoding_ms = [](int) { return 9000; };
  device.step_ms = [](int) { return 700; };
  device.window();
  EXPECT_EQ(device.encodings, 3);
  EXPECT_EQ(device.steps, 14);
}

}  // namespace
}  // namespace tutti
