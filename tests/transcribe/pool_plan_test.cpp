#include "transcribe/pool/pool_plan.h"

#include <gtest/gtest.h>

#include "hub/memory_plan.h"
#include "jobs/open_store.h"
#include "support/environment.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

constexpr const char* kNano = TUTTI_SOURCE_DIR "/models/nano";

/// How a GPU is started where these speeds are remembered.
PooledDevice pooled_card(const std::string& compute_type, const std::vector<SpeedRecord>& speeds = {}) {
  const ScopedVariable engine("TUTTI_ENGINE", "/proc/self/exe");  // it is only named here, not started
  const TempFolder folder;
  const auto store = open_store({.url = folder / "state"}).value();
  for (const auto& speed : speeds) EXPECT_TRUE(store->record_speed(speed));
  PoolOptions options;
  options.run.model = kNano;
  options.run.batched = true;
  options.run.compute_type = compute_type;
  options.devices = {
      {.id = "GPU-1",
       .device = {
           .kind = ResolvedDevice::Kind::cuda, .uuid = "GPU-1", .name = "a card", .memory = Bytes{16'000'000'000}}}};
  return plan_pool(options, *store).value().devices.at(0);
}

/// What it is believed to keep of memory for every window in flight.
Bytes window_memory(const std::string& compute_type) {
  return pooled_card(compute_type).window_memory;
}

SpeedRecord measured(int windows, double speed) {
  return {.key = {.device = "GPU-1", .model = kNano, .compute_type = "float16", .concurrency = windows},
          .speed = speed};
}

}  // namespace

TEST(PoolPlan, ACardsWindowsTakeTheMemoryOfTheTypeThatTheCardWillTake) {
  const auto plan = memory_plan(*model_shape(kNano), on_gpu(*number_sizes("int8_float16")), 104);
  EXPECT_EQ(pooled_card("int8").worker.model.text_positions, 104) << "96 sampled ones and four of prompt";
  EXPECT_EQ(window_memory("int8").value, plan.window.value + plan.sequence.value);
  EXPECT_EQ(window_memory("int8_float16").value, window_memory("int8").value);
  EXPECT_EQ(window_memory("auto").value, window_memory("float16").value);
  EXPECT_LT(window_memory("int8").value, window_memory("float16").value);
}

TEST(PoolPlan, ACardIsAGpuAndACoreIsNone) {
  EXPECT_TRUE(pooled_card("float16").is_gpu);
  const TempFolder folder;
  const auto store = open_store({.url = folder / "state"}).value();
  const ScopedVariable engine("TUTTI_ENGINE", "/proc/self/exe");
  PoolOptions options;
  options.run.model = kNano;
  options.devices = {{.id = "cpu", .device = {.kind = ResolvedDevice::Kind::cpu, .name = "CPU"}}};
  EXPECT_FALSE(plan_pool(options, *store).value().devices.at(0).is_gpu);
}

TEST(PoolPlan, SpeedIsThatOfTheLastBatchAtAnyConcurrency) {
  const auto card = pooled_card("float16", {measured(16, 50), measured(1, 10), measured(4, 28), measured(8, 30)});
  EXPECT_TRUE(card.speed_known);
  EXPECT_EQ(card.speed, 30);
  EXPECT_EQ(card.enough, 4) << "nearly as fast as eight";
  EXPECT_FALSE(pooled_card("float16").speed_known);
}

TEST(PoolPlan, FixedWindowCostCountsInTheLeastFastConcurrency) {
  SpeedRecord four = measured(4, 28);
  four.overhead = Seconds(0.5);
  EXPECT_EQ(pooled_card("float16", {four, measured(8, 30)}).enough, 8);
}
