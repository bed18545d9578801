#include "transcribe/pool/pool_plan.h"

#include <algorithm>

#include "balance/window_cost.h"
#include "base/try.h"
#include "hub/memory_plan.h"
#include "transcribe/worker_start.h"

namespace tutti {
namespace {

// Before anything is measured: enough that a GPU is preferred to a CPU.
constexpr double kUnknownGpu = 40;
constexpr double kUnknownCpu = 2;

using Kind = ResolvedDevice::Kind;

int windows_of(const ChosenDevice& device) {
  if (device.device.kind == Kind::cuda) return windows_in_flight(kUsualGpuSlots);
  if (device.device.kind == Kind::cpu) return windows_in_flight(kUsualCpuSlots);
  return windows_in_flight(device.device.card.windows());
}

double unmeasured(const ResolvedDevice& device) {
  if (device.kind == Kind::emulated) return device.card.speed;
  return device.kind == Kind::cuda ? kUnknownGpu : kUnknownCpu;
}

/// What the model and its windows take of a GPU's memory, where its shape is known.
void plan_memory(PooledDevice& pooled, const ResolvedDevice& device, const RunOptions& options) {
  if (device.kind == Kind::emulated) {
    pooled.memory = device.memory;
    pooled.model_memory = EmulatedCard::kModel;
    pooled.window_memory = EmulatedCard::kWindow;
  }
  if (device.kind != Kind::cuda || options.engine) return;  // what an engine of others takes is not known
  const auto shape = model_shape(options.model);
  const auto sizes = number_sizes(type_on(pooled.worker.model.compute_type, /*on_cpu=*/false));
  if (!shape || !sizes) return;
  const MemoryPlan plan = memory_plan(*shape, on_gpu(*sizes), pooled.worker.model.text_positions);
  const std::int64_t beams = std::max(1, options.decoding.beams());
  pooled.memory = device.memory;
  pooled.model_memory = {kDriverMemory.value + plan.weights.value + plan.workspace.value};
  pooled.window_memory = {plan.window.value + beams * plan.sequence.value};
}

/// What earlier batches have measured: how fast the device is with all its windows, and how few of them are as good.
/// False: they have not. What it did in another compute type does not count (`tutti plan`, which cannot measure, takes
/// it): the ratio of two types differs between devices by more than the self-test of this type is wrong.
bool recall_speed(PooledDevice& pooled, const std::vector<SpeedRecord>& speeds, const RunOptions& options) {
  constexpr double kAsGood = 0.9;
  std::map<int, double> by_windows;
  const SpeedRecord* latest = nullptr;  // with all the windows that it had in the last batch
  for (const auto& known : speeds) {
    if (known.key.device != pooled.id || known.key.model != options.model_name() ||
        known.key.compute_type != options.compute_type || known.speed <= 0)
      continue;
    latest = &known;
    by_windows[known.key.concurrency] = kFullWindow / (known.overhead + kFullWindow / known.speed);
  }
  if (!latest) return false;
  pooled.speed = latest->speed;
  by_windows.erase(by_windows.upper_bound(latest->key.concurrency), by_windows.end());  // speeds of batches long ago
  if (by_windows.size() > 1)
    pooled.enough =
        std::ranges::find_if(by_windows, [&](const auto& it) { return it.second >= kAsGood * pooled.speed; })->first;
  return true;
}

/// The clock that all emulated GPUs share; 1 when there are others.
double time_of(const std::vector<ChosenDevice>& devices) {
  const double first = devices.front().device.card.time;
  const bool alike = std::ranges::all_of(devices, [&](const auto& device) {
    return device.device.kind == Kind::emulated && device.device.card.time == first;
  });
  return alike ? first : 1;
}

}  // namespace

Result<PoolPlan> plan_pool(const PoolOptions& options, RunHistory& history) {
  std::optional<EmulatedSpeech> speech;
  if (std::ranges::any_of(options.devices, [](const auto& device) { return device.device.kind == Kind::emulated; })) {
    speech = TRY(emulated_speech(options.run.model));
  }
  const auto speeds = TRY(history.speeds(false));
  const auto runs = TRY(history.runs(kRunsRead));
  constexpr int kFirstStarts = 3;
  PoolPlan pool{.policy = options.policy,
                .jobs_at_once = options.jobs_at_once,
                .time = time_of(options.devices),
                .patience = options.patience,
                .restarts = {.first_starts = options.tests_devices ? kFirstStarts : 0}};
  for (const auto& device : options.devices) {
    auto worker = TRY(worker_options(device.device, options.run, speech));
    const bool emulated = device.device.kind == Kind::emulated;
    PooledDevice pooled{.id = device.id,
                        .worker = std::move(worker),
                        .is_gpu = device.device.kind != Kind::cpu,
                        .speed = unmeasured(device.device),
                        .enough = emulated ? 1 : windows_of(device) / 2,
                        .job_cap = options.job_cap(device.id),
                        .tested = options.tests_devices && device.device.kind != Kind::cpu};
    plan_memory(pooled, device.device, options.run);
    pooled.load_time = emulated ? device.device.card.warm_up : load_time_in(runs, device.id, options.run.model_name());
    pooled.speed_known = emulated || recall_speed(pooled, speeds, options.run);
    // A single device gets everything, however fast it is.
    pooled.worker.model.time_a_window = !pooled.speed_known && options.devices.size() > 1;
    pool.devices.push_back(std::move(pooled));
  }
  return pool;
}

Seconds load_time_in(const std::vector<RunRecord>& runs, const std::string& device, const std::string& model) {
  for (const RunRecord& run : runs) {
    if (run.start.model != model) continue;
    for (const DeviceUse& use : run.end.devices) {
      const auto starting = use.idle.find(std::string(name_of(Idle::starting)));
      if (use.device == device && use.audio > Seconds(0) && starting != use.idle.end()) return starting->second;
    }
  }
  return {};
}

int threads_of(const PoolOptions& options) {
  int threads = 4;
  for (const auto& device : options.devices) threads += windows_of(device) + 1;
  return threads;
}

}  // namespace tutti
