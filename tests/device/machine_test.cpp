#include "device/machine.h"

#include <gtest/gtest.h>

#include <vector>

#include "device/cgroup.h"
#include "support/fake_root.h"

namespace tutti {
namespace {

TEST(Cpu, ModelFeaturesAndAffinityAreRead) {
  const FakeRoot root;
  root.put("proc/cpuinfo",
           "processor\t: 0\nmodel name\t: AMD EPYC 9R14\nflags\t\t: fpu avx2 avx512f avx512_bf16 fma\n\n"
           "processor\t: 1\nmodel name\t: AMD EPYC 9R14\nflags\t\t: fpu\n");
  root.put("sys/devices/system/cpu/online", "0-7,16-23\n");
  root.put("proc/self/status", "Name:\ttutti\nCpus_allowed_list:\t0-2,5\n");
  const CpuFacts cpu = read_cpu(root.path());
  EXPECT_EQ(cpu.model, "AMD EPYC 9R14");
  EXPECT_EQ(cpu.machine_cores, 16);
  EXPECT_EQ(cpu.cores, 4);
  EXPECT_TRUE(cpu.has("avx2"));
  EXPECT_TRUE(cpu.has("avx512_bf16"));
  EXPECT_FALSE(cpu.has("avx512_vnni"));
  EXPECT_FALSE(cpu.has("fpu")) << "of no use here";
}

TEST(Cpu, AQuotaOfAnyLevelCutsTheCores) {
  const FakeRoot root;
  root.put("sys/devices/system/cpu/online", "0-15\n");
  root.put("proc/self/status", "Cpus_allowed_list:\t0-15\n");
  root.put("proc/self/cgroup", "0::/pod/box\n");
  root.put("sys/fs/cgroup/pod/box/cpu.max", "max 100000\n");
  EXPECT_EQ(read_cpu(root.path()).cores, 16);
  root.put("sys/fs/cgroup/pod/cpu.max", "250000 100000\n");
  EXPECT_EQ(read_cpu(root.path()).cores, 3) << "two and a half cores";
  root.put("sys/fs/cgroup/cpu.max", "10000 100000\n");
  EXPECT_EQ(read_cpu(root.path()).cores, 1);
}

TEST(Cpu, VersionOneQuotasCountToo) {
  const FakeRoot root;
  root.put("sys/devices/system/cpu/online", "0-15\n");
  root.put("proc/self/cgroup", "5:devices:/\n3:cpu,cpuacct:/docker/1\n");
  root.put("sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us", "-1\n");
  root.put("sys/fs/cgroup/cpu/docker/1/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(read_cpu(root.path()).cores, 16);
  root.put("sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us", "200000\n");
  EXPECT_EQ(read_cpu(root.path()).cores, 2);
}

TEST(Cpu, SystemWithoutFactsHasOneCore) {
  const FakeRoot root;
  const CpuFacts cpu = read_cpu(root.path());
  EXPECT_EQ(cpu.model, std::nullopt);
  EXPECT_EQ(cpu.cores, 1);
  EXPECT_TRUE(cpu.features.empty());
  EXPECT_FALSE(read_memory(root.path()));
}

TEST(Memory, TheControlGroupsLimitCounts) {
  const FakeRoot root;
  root.put("proc/meminfo", "MemTotal:       1000000 kB\nMemFree: 1 kB\nMemAvailable:    600000 kB\n");
  const auto machine = read_memory(root.path());
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->total, Bytes{1'024'000'000});
  EXPECT_EQ(machine->available, Bytes{614'400'000});

  root.put("proc/self/cgroup", "0::/box\n");
  root.put("sys/fs/cgroup/box/memory.max", "500000000\n");
  root.put("sys/fs/cgroup/box/memory.current", "300000000\n");
  root.put("sys/fs/cgroup/box/memory.stat", "anon 1\ninactive_file 50000000\nactive_file 7\n");
  const auto boxed = read_memory(root.path());
  ASSERT_TRUE(boxed);
  EXPECT_EQ(boxed->total, Bytes{500'000'000});
  EXPECT_EQ(boxed->available, Bytes{250'000'000});
}

TEST(Memory, CgroupV1HugeNumberMeansNoLimit) {
  const FakeRoot root;
  root.put("proc/self/cgroup", "4:memory:/\n");
  root.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(read_cgroup_limits(root.path()).memory, std::nullopt);
  root.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000\n");
  root.put("sys/fs/cgroup/memory/memory.usage_in_bytes", "1500\n");
  const auto limits = read_cgroup_limits(root.path());
  EXPECT_EQ(limits.memory, Bytes{1000});
  EXPECT_EQ(limits.memory_available, Bytes{0});
}

TEST(Machine, ThisOneCanBeRead) {
  const CpuFacts cpu = read_cpu();
  EXPECT_GE(cpu.cores, 1);
  EXPECT_LE(cpu.cores, cpu.machine_cores);
  const auto memory = read_memory();
  ASSERT_TRUE(memory);
  EXPECT_GT(memory->available, Bytes{0});
  EXPECT_LE(memory->available, memory->total);
}

TEST(Disk, SpaceOfMissingFolderIsThatOfItsParent) {
  const TempFolder folder;
  const auto space = disk_space(folder / "not" / "yet");
  ASSERT_TRUE(space);
  EXPECT_EQ(space->existing, folder.path());
  EXPECT_GT(space->free, Bytes{0});
  EXPECT_GE(space->total, space->free);
  EXPECT_TRUE(folder.path().string().starts_with(space->mount.string())) << space->mount;
  EXPECT_EQ(disks_of({folder.path(), folder / "not"}), std::vector{space->mount}) << "one disk, listed once";
}

}  // namespace
}  // namespace tutti
