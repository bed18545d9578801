#include "link/training_processes.h"

#include <gmock/gmock.h>

#include "base/process/process_rank.h"
#include "support/environment.h"

namespace tutti {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TEST(TrainingProcesses, EachGpuGetsOneProcessAndAllShareOneRendezvous) {
  const std::vector<ChosenDevice> cards{
      {.id = "GPU-a", .label = "cuda:0", .device = {.kind = ResolvedDevice::Kind::cuda, .uuid = "GPU-a"}},
      {.id = "GPU-b", .label = "cuda:1", .device = {.kind = ResolvedDevice::Kind::cuda, .uuid = "GPU-b"}}};
  const auto runs = training_processes({"train"}, cards, 4711);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_THAT(runs[1].arguments, ElementsAre("train", "--device", "cuda:0"));
  EXPECT_THAT(runs[1].environment, Contains(Pair("CUDA_VISIBLE_DEVICES", "GPU-b")));
  EXPECT_THAT(runs[1].environment, Contains(Pair("RANK", "1")));
  EXPECT_THAT(runs[0].environment, Contains(Pair("WORLD_SIZE", "2")));
  EXPECT_THAT(runs[0].environment, Contains(Pair("MASTER_PORT", "4711")));
}

TEST(TrainingProcesses, SingleDeviceNeedsNoRendezvousAndKeepsItsCore) {
  const auto runs = training_processes({"train"}, {{.id = "cpu:1", .label = "cpu:1", .device = {.core = 1}}}, 1);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_THAT(runs[0].environment, IsEmpty());
  EXPECT_EQ(runs[0].core, 1);
}

TEST(TrainingProcesses, EmulatedCardsAreRefusedByName) {
  const auto devices = training_devices("cpu,emulated:30x:12GB");
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().fault, Fault::usage);
  EXPECT_THAT(devices.error().what, HasSubstr("emulated:30x:12GB"));
}

TEST(TrainingProcesses, SingleSlurmTaskIsOneRankAndTorchrunWins) {
  const ScopedVariable jobs("SLURM_NTASKS", "1"), job("SLURM_PROCID", "0");
  const ScopedVariable no_world("WORLD_SIZE", nullptr), no_rank("RANK", nullptr);
  EXPECT_EQ(process_rank().value().ranks, 1);
  const ScopedVariable world("WORLD_SIZE", "4"), rank("RANK", "3");
  EXPECT_EQ(process_rank().value().ranks, 4);
  EXPECT_EQ(process_rank().value().rank, 3);
}

TEST(TrainingProcesses, RanksOfThisMachineAreCounted) {
  const ScopedVariable jobs("SLURM_NTASKS", nullptr), nodes("SLURM_JOB_NUM_NODES", "3");
  const ScopedVariable no_world("WORLD_SIZE", nullptr), no_address("MASTER_ADDR", nullptr), rank("RANK", "0");
  const ScopedVariable no_local("LOCAL_WORLD_SIZE", nullptr);
  EXPECT_EQ(ranks_here(), 1);
  {
    const ScopedVariable slurm("SLURM_NTASKS", "8"), job("SLURM_PROCID", "0");
    EXPECT_EQ(ranks_here(), 3);
  }
  const ScopedVariable world("WORLD_SIZE", "8");
  EXPECT_EQ(ranks_here(), 8) << "they meet on this machine";
  const ScopedVariable far("MASTER_ADDR", "node1");
  EXPECT_EQ(ranks_here(), 1);
  const ScopedVariable local("LOCAL_WORLD_SIZE", "4");
  EXPECT_EQ(ranks_here(), 4);
}

}  // namespace
}  // namespace tutti
