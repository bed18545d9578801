#include <gtest/gtest.h>

#include "cli/plan/capacity.h"
#include "cli/plan/plan_devices.h"
#include "cli/plan/policy_table.h"
#include "cli/plan/quote.h"
#include "hub/memory_plan.h"
#include "jobs/open_store.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

TEST(PlanDevices, EmulatedOnesHaveSpeedAndMemoryAndRealOnesWhatTheDriverSays) {
  MachineDevices machine;
  machine.gpus.resize(1);
  machine.gpus[0].uuid = "GPU-aa";
  machine.gpus[0].memory_total = Bytes{24'000'000'000};
  machine.visible = machine.gpus;
  const auto targets = plan_targets("emulated:30x:12GB,cuda:0,cpu:1", machine);
  ASSERT_TRUE(targets) << targets.error().text();
  ASSERT_EQ(targets->size(), 3u);
  EXPECT_EQ((*targets)[0].speed, 30);
  EXPECT_EQ((*targets)[0].memory, Bytes{12'000'000'000});
  EXPECT_GT((*targets)[0].windows.value_or(0), 1);
  EXPECT_EQ((*targets)[1].id, "cuda:0");
  EXPECT_EQ((*targets)[1].memory, Bytes{24'000'000'000});
  EXPECT_FALSE((*targets)[1].speed);
  EXPECT_TRUE((*targets)[2].on_cpu);
  for (const char* list : {"", "cuda:1", "cpu:x", "emulated:12GB", "cuda:0,,cpu"})
    EXPECT_FALSE(plan_targets(list, machine)) << list;
}

TEST(PlanDevices, WhatBatchesHaveMeasuredIsTheirSpeed) {
  const TempFolder folder;
  std::vector<PlanTarget> targets{{.id = "cuda:0", .record = "GPU-aa"}, {.id = "cuda:1", .record = "GPU-bb"}};
  ASSERT_TRUE(add_known_speeds(targets, folder.path() / "none", "medium", "default"));
  EXPECT_FALSE(targets[0].speed);
  {
    auto store = open_store({.folder = folder.path()});
    ASSERT_TRUE(store) << store.error().text();
    for (const int windows : {1, 8})
      ASSERT_TRUE((*store)->record_speed({.key = {"GPU-aa", "medium", "default", windows},
                                          .speed = 10.0 * windows,
                                          .samples = 5,
                                          .median_error = 0.1}));
    ASSERT_TRUE((*store)->record_speed({.key = {"GPU-bb", "tiny", "default", 8}, .speed = 300}));
  }
  ASSERT_TRUE(add_known_speeds(targets, folder.path(), "medium", "default"));
  EXPECT_EQ(targets[0].speed, 80);
  EXPECT_DOUBLE_EQ(targets[0].speed_error, 0.1);
  EXPECT_FALSE(targets[1].speed) << "it was measured with another model";
}

TEST(PlanCapacity, IsTheMemoryPlansArithmeticWithTheDriversShareAndTheHeadroomLeftFree) {
  const ModelShape medium = *model_shape("medium");
  const PlanTarget card{.id = "cuda:0", .memory = Bytes{8'000'000'000}};
  const Capacity it = capacity({.shape = medium, .compute_type = "float16"}, card);
  const MemoryPlan plan = memory_plan(medium, *number_sizes("float16"));
  const std::int64_t left = 8'000'000'000 - 2 * (512LL << 20);
  EXPECT_LE(plan.total(it.fits, 1).value, left);
  EXPECT_GT(plan.total(it.fits + 1, 1).value, left);
  EXPECT_EQ(capacity({.shape = medium, .compute_type = "float16"}, {.id = "x", .memory = Bytes{2'000'000'000}}).fits,
            0);
}

TEST(PlanQuote, WhatDoesNotFitIsSaidAndNotRecommended) {
  const auto quote = make_quote({.model = "large-v3",
                                 .compute_type = "default",
                                 .ram = {32'000'000'000},
                                 .targets = *plan_figures("12GB:30x,3GB:12x"),
                                 .tasks = {{Seconds(3000), Seconds(3000)}}});
  ASSERT_TRUE(quote) << quote.error().text();
  ASSERT_EQ(quote->problems.size(), 1u);
  EXPECT_NE(quote->problems[0].find("cuda:1"), std::string::npos);
  EXPECT_NE(quote->command.find("--devices cuda:0"), std::string::npos);
  EXPECT_EQ(quote->command.find("cuda:1"), std::string::npos);
  EXPECT_NE(quote->command.find("--beam-size None"), std::string::npos) << "a batch has five by default";
  ASSERT_TRUE(quote->time);
  EXPECT_NEAR(quote->time->expected.count(), 100, 1) << "only the card it fits on works";
  EXPECT_LT(quote->time->least, quote->time->expected);
  EXPECT_GT(quote->time->most, quote->time->expected);
}

TEST(PlanQuote, ADeviceOfUnknownSpeedHasACapacityAndNoTime) {
  const auto quote = make_quote({.model = "tiny",
                                 .compute_type = "default",
                                 .ram = {8'000'000'000},
                                 .targets = {{.id = "cuda:0", .memory = Bytes{8'000'000'000}}},
                                 .tasks = {{Seconds(3000), Seconds(3000)}}});
  ASSERT_TRUE(quote);
  EXPECT_FALSE(quote->time);
  EXPECT_GT(quote->chosen.on[0].fits, 0);
  EXPECT_FALSE(make_quote({.model = "gigantic", .compute_type = "default", .targets = quote->question.targets}));
}

TEST(PlanPolicies, AreComparedByTheContractsKeys) {
  const std::vector<SimTask> tasks = with_error(std::vector<double>{3000, 2000, 1000}, 0, 0);
  const auto table = compare_policies(tasks, sim_devices(*plan_figures("12GB:30x,8GB:12x"), 8), SimUnit::window, 0);
  EXPECT_EQ(table.json().substr(0, 17), R"({"lower_bound_s":)");
  for (const char* name : {"tutti", "note", "fifo", "round_robin"})
    EXPECT_NE(table.json().find(R"({"name":")" + std::string(name) + R"(","makespan_s":)"), std::string::npos) << name;
  EXPECT_NEAR(table.lower_bound.count(), 6000.0 / 42, 1e-9);
  for (const auto& row : table.rows) EXPECT_GE(row.ratio, 1 - 1e-9) << row.name;
}

}  // namespace
}  // namespace tutti
