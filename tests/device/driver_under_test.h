#pragma once

#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "device/telemetry/attribution.h"
#include "device/telemetry/driver_watch.h"
#include "device/telemetry/metrics.h"
#include "metrics/prometheus.h"
#include "support/fake_clock.h"
#include "support/scripted_machine.h"

namespace tutti {

/// Two unequal GPUs of which everything is known.
inline const std::string kTwoCards =
    "driver 580.65.06\n"
    "gpu uuid=GPU-a bus=0000:01:00.0 total=24000000000 reserved=500000000 used=1000000000 cc=8.9 util=30 mem_util=7 "
    "power=71.5 power_limit=72 energy=1234.5 temp=61 mem_temp=70 slowdown=88 shutdown=95 clock=1800 sm_clock=1790 "
    "mem_clock=6251 clock_max=2040 mem_clock_max=6251 throttle=0x4 ecc_corrected=3 ecc_uncorrected=0 recovery=0 "
    "pcie_gen=4 pcie_width=16 pcie_sent=2000 pcie_received=1000 mig=0 name=NVIDIA L4\n"
    "gpu uuid=GPU-b bus=0000:02:00.0 total=80000000000 reserved=600000000 used=2000000000 cc=9.0 util=99 mem_util=50 "
    "power=650 power_limit=700 energy=99 temp=75 mem_temp=85 slowdown=89 shutdown=92 clock=1980 sm_clock=1980 "
    "mem_clock=2619 clock_max=1980 mem_clock_max=2619 throttle=0x0 ecc_corrected=0 ecc_uncorrected=1 recovery=1 "
    "pcie_gen=5 pcie_width=16 pcie_sent=9 pcie_received=8 mig=0 name=NVIDIA H100\n"
    "process gpu=GPU-a pid=1 memory=3000000000 util=20\n"
    "process gpu=GPU-b pid=2 memory=4000000000 util=90\n";

/// A scripted machine, read synchronously, with a clock that only the test advances.
class DriverUnderTest {
 public:
  explicit DriverUnderTest(const std::string& script, const char* library = TUTTI_FAKE_NVML_LIBRARY)
      : machine_(script, nullptr, library) {}

  void now(const std::string& script) const { machine_.now(script); }
  void advance(Seconds by) { clock_.advance(std::chrono::duration_cast<std::chrono::nanoseconds>(by)); }

  /// A round, and what is then known.
  MachineSnapshot read() {
    watch_->read_once();
    return look();
  }
  MachineSnapshot look() {
    MachineSnapshot all{.number = 1, .when = clock_.now()};
    driver_->table.with([&](GpuTable& table) {
      all.gpus = table.gpus(clock_.now());
      all.source = table.source();
      all.driver = table.driver();
      all.notes = table.notes(clock_.now());
    });
    return all;
  }
  /// Another reader takes over, as when the one before hangs.
  void replace_reader() {
    watch_.emplace(driver_, ++reader_, clock_, [] { return true; });
  }
  void measure_pcie() {
    measure_all_pcie(*driver_, clock_, [] { return true; });
  }

 private:
  ScriptedMachine machine_;
  FakeClock clock_;
  std::shared_ptr<DriverState> driver_ = std::make_shared<DriverState>(Seconds(3));
  int reader_ = 0;
  std::optional<DriverWatch> watch_{std::in_place, driver_, 0, clock_, [] { return true; }};
};

/// The series of one GPU, a line each, as Prometheus sees them: what is absent has no line.
inline std::vector<std::string> series_of(const MachineSnapshot& snapshot, const std::string& uuid) {
  std::istringstream text(prometheus_text(snapshot_metrics(snapshot)));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);)
    if (line.find("\"" + uuid + "\"") != std::string::npos) lines.push_back(line);
  return lines;
}

}  // namespace tutti
