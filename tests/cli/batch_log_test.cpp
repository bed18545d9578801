#include "cli/batch/batch_log.h"

#include <gtest/gtest.h>

#include "support/log_capture.h"

using namespace tutti;

TEST(BatchLog, HowFastARecordingWasIsTheDevicesSpeedAndNotItsTurns) {
  LogCapture log;
  BatchLog observer({}, [] { return std::nullopt; });
  observer.on_done({.name = "a.wav", .device = "card", .audio = Seconds(60), .busy = Seconds(5)}, {});
  EXPECT_EQ(log.count("Done: a.wav, card, 12.0 x real time"), 1);
  observer.on_done({.name = "b.wav", .device = "card", .audio = Seconds(60)}, {});
  EXPECT_EQ(log.count("Done: b.wav, card, "), 0) << "nothing of it was decoded";
  observer.on_done({.name = "c.wav", .audio = Seconds(60), .busy = Seconds(5), .copied = true}, {});
  EXPECT_EQ(log.count("Done: c.wav (the same recording as one before)"), 1);
  EXPECT_EQ(log.count("real time"), 1);
}
