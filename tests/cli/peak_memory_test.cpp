// Peak memory of a scripted GPU, whose library the tests of this module link.

#include <gtest/gtest.h>

#include "support/eventually.h"
#include "support/scripted_machine.h"
#include "transcribe/bench.h"

using namespace tutti;

TEST(PeakMemory, GrowthCountsAsWorkersWithoutProcessList) {
  const std::string card = "gpu uuid=GPU-a bus=0000:01:00.0 total=24000000000 used=";
  const ScriptedMachine machine(card + "100000000\n");
  PeakMemory memory("cuda:0");
  machine.now(card + "400000000\n");
  eventually([&] {
    memory.look();
    return memory.on_gpu() == Bytes{300'000'000};
  });
}
