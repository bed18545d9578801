#include "transcribe/pool/pool_status.h"

#include <gtest/gtest.h>

using namespace tutti;

namespace {

DeviceStatus status_of(const ResolvedDevice& device, const PooledDeviceView& view) {
  return device_status(view, {.id = view.id, .label = view.id, .device = device}, Seconds(60));
}

}  // namespace

TEST(PoolStatus, EmulatedDeviceMemoryIsWhatThePoolReserved) {
  ResolvedDevice card{.kind = ResolvedDevice::Kind::emulated, .name = "card"};
  card.card.memory = Bytes{12'000'000'000};
  const auto status = status_of(card, {.id = "card", .reserved = Bytes{2'500'000'000}});
  EXPECT_EQ(status.own_memory, Bytes{2'500'000'000});
  EXPECT_EQ(status.total_memory, Bytes{12'000'000'000});
}

TEST(PoolStatus, ASpeedThatWasOnlyGuessedIsNotExpected) {
  const ResolvedDevice cpu{.kind = ResolvedDevice::Kind::cpu, .name = "cpu"};
  EXPECT_FALSE(status_of(cpu, {.id = "cpu", .speed = 2}).usual_speed);
  EXPECT_EQ(status_of(cpu, {.id = "cpu", .speed = 3, .speed_known = true}).usual_speed, 3);
  EXPECT_FALSE(status_of(cpu, {.id = "cpu", .speed = 3, .speed_known = true}).speed) << "it has done nothing yet";
}

TEST(PoolStatus, SpeedIsHiddenUntilMoreIsDoneThanInFlight) {
  const ResolvedDevice cpu{.kind = ResolvedDevice::Kind::cpu, .name = "cpu"};
  PooledDeviceView view{.id = "cpu", .windows = 4, .speed = 3, .audio_done = Seconds(60), .busy = Seconds(60)};
  EXPECT_EQ(status_of(cpu, view).speed, 1) << "better than nothing";
  view.speed_known = true;
  EXPECT_FALSE(status_of(cpu, view).speed);
  EXPECT_EQ(status_of(cpu, view).usual_speed, 3);
  view.audio_done = Seconds(240);
  EXPECT_EQ(status_of(cpu, view).speed, 4);
  view.audio_done = Seconds(60);
  view.windows = 0;
  EXPECT_EQ(status_of(cpu, view).speed, 1) << "nothing is in flight";
}

TEST(PoolStatus, OutOfMemoryStatusNamesTheWindowLimit) {
  const ResolvedDevice cpu{.kind = ResolvedDevice::Kind::cpu, .name = "cpu"};
  PooledDeviceView view{.id = "cpu", .memory_loss = MemoryLoss{.times = 1, .all = 10, .least = 5, .now = 6}};
  EXPECT_EQ(status_of(cpu, view).memory_limit, "has run out of memory: at most 6 of 10 windows at once for now");
  view.memory_loss->now.reset();
  EXPECT_EQ(status_of(cpu, view).memory_limit, "");
}
