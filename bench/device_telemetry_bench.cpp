// What a second of telemetry costs with 16 GPUs: processor time of one round over all of them (limits and lists every
// tenth time, as at 1 Hz), of the readings of /proc and of putting the snapshot together. The fake driver's own time is
// in it.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <fstream>

#include "device/machine.h"
#include "device/telemetry/attribution.h"
#include "device/telemetry/driver_watch.h"
#include "device/telemetry/host_reader.h"
#include "support/fake_clock.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

constexpr double kMostResident = 20;  // MiB, of the whole process

/// A machine of 16 GPUs with two processes each.
std::string sixteen_cards() {
  std::string script = "driver 580.65.06\n";
  for (int i = 10; i < 26; ++i) {
    const auto n = std::to_string(i);
    script += "gpu uuid=GPU-" + n + " bus=0000:" + n +
              ":00.0 total=24000000000 reserved=500000000 used=0 util=50 power=60 power_limit=72 energy=5 temp=50 "
              "mem_temp=60 slowdown=88 shutdown=95 clock=1800 sm_clock=1800 mem_clock=6251 clock_max=2040 "
              "mem_clock_max=6251 throttle=0x4 ecc_corrected=0 ecc_uncorrected=0 recovery=0 pcie_gen=4 pcie_width=16 "
              "name=NVIDIA L4\n";
    for (const int pid : {1, static_cast<int>(::getpid())})
      script += "process gpu=GPU-" + n + " pid=" + std::to_string(pid) + " memory=3000000000 util=20\n";
  }
  return script;
}

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void second(benchmark::State& state) {
  const TempFolder folder;
  std::ofstream(folder / "script") << sixteen_cards();
  ::setenv("TUTTI_NVML", TUTTI_FAKE_NVML_LIBRARY, 1);
  ::setenv("TUTTI_FAKE_NVML", (folder / "script").c_str(), 1);
  FakeClock clock;
  const auto state = std::make_shared<DriverState>(Seconds(3));
  DriverWatch watch(state, 0, clock, [] { return true; });
  HostReader host({folder.path()});
  for (auto _ : state) {
    const double before = processor_seconds();
    watch.read_once();
    MachineSnapshot all;
    state->table.with([&](GpuTable& table) { all.gpus = table.gpus(clock.now()); });
    all.host = host.read(clock.now(), ::getpid(), {1});
    for (auto& gpu : all.gpus) attribute_load(gpu, all.host);
    number_as_cuda(all.gpus, std::nullopt);
    benchmark::DoNotOptimize(all);
    state.SetIterationTime(processor_seconds() - before);
    if (all.gpus.size() != 16 || !all.gpus[0].memory.own) state.SkipWithError("the cards were not read");
    clock.advance(std::chrono::seconds(1));
  }
  const auto usage = process_usage(::getpid());
  const double resident = usage && usage->resident ? static_cast<double>(usage->resident->value) / (1 << 20) : 0;
  state.counters["resident_MiB"] = resident;
  if (resident > kMostResident) state.SkipWithError("more than 20 MiB are resident");
}
BENCHMARK(second)->Name("second/16_cards")->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
