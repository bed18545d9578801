#include "cli/batch/batch_log.h"

#include <gtest/gtest.h>

#include "support/log_capture.h"
#include "support/log_lines.h"

using namespace tutti;

TEST(BatchLog, HowFastARecordingWasIsTheDevicesSpeedAndNotItsTurns) {
  LogCapture log;
  BatchLog observer({}, [](const PoolView&) { return std::nullopt; });
  observer.on_done({.name = "a.wav", .device = "card", .audio = Seconds(60), .busy = Seconds(5)}, {});
  EXPECT_EQ(log.count("Done: a.wav, card, 12.0 x real time"), 1);
  observer.on_done({.name = "b.wav", .device = "card", .audio = Seconds(60)}, {});
  EXPECT_EQ(log.count("Done: b.wav, card, "), 0) << "nothing of it was decoded";
  observer.on_done({.name = "c.wav", .audio = Seconds(60), .busy = Seconds(5), .copied = true}, {});
  EXPECT_EQ(log.count("Done: c.wav (the same recording as one before)"), 1);
  EXPECT_EQ(log.count("real time"), 1);
}

TEST(BatchLog, StartIsLoggedAsInTheNoteWithDeviceAndWorker) {
  LogLines log;
  PoolView view;
  view.next_device = "cuda:1";
  view.devices = {{.id = "cuda:0", .jobs = 2}, {.id = "cuda:1", .jobs = 3}};
  BatchLog observer({}, [](const PoolView& before) {
    FleetStatus status;
    status.next_device = before.next_device;
    for (const auto& device : before.devices)
      status.devices.push_back(
          {.id = device.id, .jobs = static_cast<std::size_t>(device.jobs), .most_jobs = 5, .own_load = 0.5});
    return status;
  });
  observer.on_start({.number = 3,
                     .total = 100,
                     .name = "Lecture",
                     .uuid = "a1b2",
                     .worker = 7,
                     .device = "cuda:1",
                     .attempt = 2,
                     .before = view});
  EXPECT_EQ(log.texts,
            (std::vector<std::string>{"GPU Balancer Status: GPU 0: 2/5 tasks, 50% util | GPU 1: 3/5 tasks, 50% util "
                                      "-> next: GPU 1",
                                      std::string(80, '='), "[3/100] Processing: Lecture, attempt 2", "UUID: a1b2",
                                      "Thread: Worker-7", "Device: cuda:1"}));
}

TEST(BatchLog, LogLinesOfARecordingBelongToItsWorker) {
  LogLines lines;
  BatchLog observer({}, [](const PoolView&) { return std::nullopt; });
  observer.on_start({.name = "a", .worker = 2, .device = "cuda:0"});
  observer.on_done({.name = "a", .worker = 2}, {});
  observer.on_retry({.name = "b", .worker = 3}, "it is away", Seconds(1));
  log(Level::info, "of the batch");
  ASSERT_EQ(lines.owners.size(), 8U);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(lines.owners[i], "Worker-2");
  EXPECT_EQ(lines.owners[6], "Worker-3");
  EXPECT_EQ(lines.owners[7], "");
}
