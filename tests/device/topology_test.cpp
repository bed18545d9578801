#include "device/topology/topology.h"

#include <gtest/gtest.h>

#include "support/fake_root.h"
#include "support/scripted_machine.h"

namespace tutti {
namespace {

std::string name_of(const std::optional<GpuPath>& path) {
  return path ? path->name() : "absent";
}

Topology topology_of(const FakeRoot& root) {
  const auto library = NvmlLibrary::load();
  EXPECT_TRUE(library) << library.error().text();
  const auto listing = list_cards(**library);
  EXPECT_TRUE(listing);
  return read_topology(**library, *listing, root.path());
}

TEST(Topology, FollowsTheDriver) {
  const ScriptedMachine machine(
      "gpu uuid=GPU-a bus=0000:01:00.0 cpus=0-15,32-47 numa=0\n"
      "gpu uuid=GPU-b bus=0000:02:00.0 cpus=0-15,32-47 numa=0\n"
      "gpu uuid=GPU-c bus=0000:81:00.0 cpus=16-31 numa=1\n"
      "path gpu=GPU-a peer=GPU-b level=PHB\npath gpu=GPU-a peer=GPU-c level=SYS\npath gpu=GPU-b peer=GPU-c level=SYS\n"
      "link gpu=GPU-a peer=GPU-b count=4\n");
  const Topology topology = topology_of(FakeRoot());
  EXPECT_EQ(name_of(topology.paths[0][1]), "NV4") << "NVLinks are nearer than the bus";
  EXPECT_EQ(name_of(topology.paths[1][0]), "NV4");
  EXPECT_EQ(name_of(topology.paths[0][2]), "SYS");
  EXPECT_EQ(name_of(topology.paths[0][0]), "absent");
  EXPECT_EQ(topology.gpus[0].cpus, "0-15,32-47");
  EXPECT_EQ(topology.gpus[2].numa_node, 1);
  EXPECT_EQ(topology_table(topology),
            "      GPU0  GPU1  GPU2  CPU affinity  NUMA node\n"
            "GPU0  X     NV4   SYS   0-15,32-47    0\n"
            "GPU1  NV4   X     SYS   0-15,32-47    0\n"
            "GPU2  SYS   SYS   X     16-31         1\n"
            "NV#   that many NVLinks\n"
            "SYS   between NUMA nodes: slower, copies go through the processor\n");
}

TEST(Topology, CardsAtSwitchesAreAllLinked) {
  const ScriptedMachine machine(
      "gpu uuid=GPU-a bus=0000:01:00.0\ngpu uuid=GPU-b bus=0000:02:00.0\ngpu uuid=GPU-c bus=0000:03:00.0\n"
      "link gpu=GPU-a peer=switch count=18\nlink gpu=GPU-b peer=switch count=12\n");
  const Topology topology = topology_of(FakeRoot());
  EXPECT_EQ(name_of(topology.paths[0][1]), "NV12") << "as many as the one with fewer has";
  EXPECT_EQ(name_of(topology.paths[0][2]), "absent");
}

TEST(Topology, WithoutDriverFactsFollowsThePciTreeOfTheSystem) {
  const ScriptedMachine machine(
      "gpu uuid=GPU-a bus=00000000:03:00.0\ngpu uuid=GPU-b bus=00000000:04:00.0\ngpu uuid=GPU-c bus=00000000:07:00.0\n"
      "gpu uuid=GPU-d bus=00000000:0A:00.0\ngpu uuid=GPU-e bus=00000000:21:00.0\n"
      "gpu uuid=GPU-f bus=00000000:81:00.0\ngpu uuid=GPU-g bus=00000000:91:00.0\n");
  const FakeRoot root;
  const std::string top = "pci0000:00/0000:00:01.0/0000:01:00.0/";
  root.put_pci_device("0000:03:00.0", top + "0000:02:00.0/0000:03:00.0");
  root.put_pci_device("0000:04:00.0", top + "0000:02:01.0/0000:04:00.0");
  root.put_pci_device("0000:07:00.0", top + "0000:02:02.0/0000:05:00.0/0000:06:00.0/0000:07:00.0");
  root.put_pci_device("0000:0a:00.0", "pci0000:00/0000:00:02.0/0000:0a:00.0");
  root.put_pci_device("0000:21:00.0", "pci0000:20/0000:20:01.0/0000:21:00.0");
  root.put_pci_device("0000:81:00.0", "pci0000:80/0000:80:01.0/0000:81:00.0");
  for (const auto& [name, node] : {std::pair{"0000:03:00.0", "0\n"}, std::pair{"0000:21:00.0", "0\n"},
                                   std::pair{"0000:81:00.0", "1\n"}, std::pair{"0000:0a:00.0", "-1\n"}})
    root.put("sys/bus/pci/devices/" + std::string(name) + "/numa_node", node);
  root.put("sys/bus/pci/devices/0000:03:00.0/local_cpulist", "0-7\n");
  const Topology topology = topology_of(root);
  EXPECT_EQ(name_of(topology.paths[0][1]), "PIX");
  EXPECT_EQ(name_of(topology.paths[0][2]), "PXB");
  EXPECT_EQ(name_of(topology.paths[0][3]), "PHB");
  EXPECT_EQ(name_of(topology.paths[0][4]), "NODE");
  EXPECT_EQ(name_of(topology.paths[0][5]), "SYS");
  EXPECT_EQ(name_of(topology.paths[0][6]), "absent") << "the system does not know that device";
  EXPECT_EQ(topology.gpus[0].cpus, "0-7");
  EXPECT_EQ(topology.gpus[0].numa_node, 0);
  EXPECT_EQ(topology.gpus[3].numa_node, std::nullopt) << "-1 is no node";
}

TEST(Topology, NumaNodesAreListedWithTheirMemory) {
  const ScriptedMachine machine("gpu uuid=GPU-a\n");
  const FakeRoot root;
  root.put("sys/devices/system/node/node1/cpulist", "8-15\n");
  root.put("sys/devices/system/node/node0/cpulist", "0-7\n");
  root.put("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:       1000 kB\nNode 0 MemFree: 5 kB\n");
  root.put("sys/devices/system/node/online", "0-1\n");
  const Topology topology = topology_of(root);
  ASSERT_EQ(topology.nodes.size(), 2u);
  EXPECT_EQ(topology.nodes[0].cpus, "0-7");
  EXPECT_EQ(topology.nodes[0].memory, Bytes{1000 * 1024});
  EXPECT_EQ(topology.nodes[1].number, 1);
  EXPECT_EQ(topology.nodes[1].memory, std::nullopt);
}

TEST(Topology, CoresAreListedInRanges) {
  EXPECT_EQ(cpu_list({0b1011, 1}), "0-1,3,64");
  EXPECT_EQ(cpu_list({~0UL, 1}), "0-64");
  EXPECT_EQ(cpu_list({0, 0}), "");
}

}  // namespace
}  // namespace tutti
