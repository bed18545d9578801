#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "advise/lost_time.h"
#include "base/guarded.h"
#include "device/machine.h"
#include "device/telemetry/host_reader.h"
#include "device/telemetry/sampler.h"
#include "transcribe/pool/device_pool.h"
#include "transcribe/pool/pool_options.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// What others hold of a GPU's memory, the driver included. `before`: what was used of it before our worker was there.
/// It counts as the others' memory where the driver shows no processes (in a container). None: not known.
std::optional<Bytes> used_by_others(const GpuMemory& memory, std::optional<Bytes> before);

/// How busy a GPU is by its latest snapshot; nothing where that is older than ten seconds, or does not say.
DeviceLoad device_load_of(const GpuSnapshot& gpu, Clock::Instant now);

/// Why no work may go to a GPU, by what the driver reports of it. It is lost or hung, needs recovery, or has reported
/// an Xid after which only a reset makes it usable again (that lasts for the run).
std::optional<DeviceFault> device_fault_of(const GpuSnapshot& gpu);

/// Why no recording should be begun beside those in work: less than 5 % of this machine's memory, or half a GiB, is
/// left; once that was so (`was_short`), it takes half as much again to be over.
std::optional<std::string> memory_shortage(const MemoryFacts& memory, bool was_short);

/// Adds the load of a core (none: of all) and the memory of the worker on it, `worker` by its process; none: there is
/// none. Own is what that process does and holds, foreign what else keeps the core busy, our decoders included.
void describe_cores(const HostSnapshot& host, std::optional<int> core, std::optional<int> worker, DeviceStatus& status);

/// What the pool knows of a device `elapsed` after its start; the machine adds the rest (PoolMachine::describe).
DeviceStatus device_status(const PooledDeviceView& device, const ChosenDevice& chosen, Seconds elapsed);

/// How a device has spent the time of a run so far. Speeds are what it did while it was busy, not what the speed model
/// believes: a report is about facts.
DeviceTime device_time(const PooledDeviceView& device);

/// What a GPU has drawn, by a counter that stops reporting when the GPU is lost, and may restart from zero when it is
/// back.
class EnergyMeter {
 public:
  void reads(double joules) {
    if (last_ && joules > *last_) drawn_ += joules - *last_;
    last_ = joules;
  }
  /// Between the first reading and the last, less what was not read before the counter restarted.
  double drawn() const { return drawn_; }

 private:
  std::optional<double> last_{};
  double drawn_ = 0;
};

/// The machine beside a pool: the telemetry of the GPUs that it uses, and its memory. Thread-safe.
class PoolMachine {
 public:
  /// Watches when any device is a GPU, or sits on one.
  explicit PoolMachine(const PoolOptions& options);

  /// Reports to the pool which devices the driver has lost, which are back, and what others use of their memory, and
  /// how busy they are. Keeps the latest reading of the energy that they have drawn. To be called about once a second.
  void report_gpus(DevicePool& pool);
  /// memory_shortage of now. One thread.
  std::optional<std::string> shortage();
  /// Looks at the cores, where any device is one. To be called about once a second. One thread.
  void look_at_cores();
  /// Adds what is known of a device, whose worker is that process: load, memory, power, temperature.
  void describe(std::size_t device, std::optional<int> worker, DeviceStatus& status) const;
  /// Joules that each GPU has drawn since the pool was started, by its id in the run, where the driver reported them at
  /// the start. For a GPU that has been lost, until then.
  std::map<std::string, double> energy_by_device();
  /// All of them together, where all could say.
  std::optional<double> energy();

 private:
  void read_energy();
  void report_load(DevicePool& pool, const std::string& device, const GpuSnapshot& gpu);

  const PoolOptions& options_;
  std::unique_ptr<Sampler> sampler_{};
  std::map<std::string, Bytes> used_before_{};  // memory of each GPU in use before, by UUID
  std::map<std::string, bool> load_lost_{};     // by device: its driver could not say how busy it is; one thread
  bool was_short_ = false;
  std::optional<HostReader> cores_{};  // reads how busy CPU cores are, on the thread that calls look_at_cores()
  Guarded<HostSnapshot> host_{};
  Guarded<std::map<std::string, EnergyMeter>> energy_{};  // by device id, of those that reported energy at the start
};

}  // namespace tutti
