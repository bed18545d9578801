#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <map>
#include <set>

#include "checks.h"
#include "model/gpu.h"
#include "worker/compute_type.h"

namespace tutti {
namespace {

namespace profiler = torch::autograd::profiler;

constexpr int kRepeats = 8;
constexpr std::size_t kListed = 10;        // kernels of one piece of work
constexpr std::size_t kLongestName = 100;  // characters of a kernel's name, whose templates go on for lines

struct KernelTime {
  double seconds = 0;
  int launches = 0;
};

/// Seconds and launches on the device by kernel, of `kRepeats` calls.
std::map<std::string, KernelTime> profiled(const std::function<void()>& work) {
  const profiler::ProfilerConfig config(profiler::ProfilerState::KINETO);
  const std::set<profiler::ActivityType> activities{profiler::ActivityType::CUDA};
  profiler::prepareProfiler(config, activities);
  profiler::enableProfiler(config, activities);
  for (int i = 0; i < kRepeats; ++i) work();
  const auto result = profiler::disableProfiler();
  std::map<std::string, KernelTime> kernels;
  for (const auto& event : result->events()) {
    if (event.deviceType() != c10::DeviceType::CUDA) continue;
    auto& kernel = kernels[event.name()];
    kernel.seconds += static_cast<double>(event.durationNs()) * 1e-9;
    ++kernel.launches;
  }
  return kernels;
}

/// work: waits for the device.
void report_kernels(Report& report, const std::string& what, const std::function<void()>& work) {
  const double alone = 1 / rate_of(Seconds(0.1), work);
  const auto kernels = profiled(work);
  std::vector<std::pair<std::string, KernelTime>> sorted(kernels.begin(), kernels.end());
  std::ranges::sort(sorted, std::greater(), [](const auto& one) { return one.second.seconds; });
  const auto add = [&](const std::string& name, double seconds, const std::string& unit) {
    report.add({.check = "kernels", .what = what + ": " + name, .value = seconds * 1e6, .unit = unit});
  };
  double busy = 0;
  int launches = 0;
  for (const auto& [name, kernel] : sorted) busy += kernel.seconds, launches += kernel.launches;
  add("all", alone, "us");
  add("on the device", busy / kRepeats, "us in " + std::to_string(launches / kRepeats) + " kernels and copies");
  for (std::size_t i = 0; i < std::min(kListed, sorted.size()); ++i) {
    const auto& [name, kernel] = sorted[i];
    add(name.substr(0, kLongestName), kernel.seconds / kRepeats,
        "us in " + std::to_string(kernel.launches / kRepeats) + " launches");
  }
}

void time_size(Report& report, at::Device device, const std::string& size, ComputeType type,
               const CheckOptions& options) {
  const auto name = size + " " + std::string(type.name());
  const auto model = WhisperModel::random(dims_named(size), device, type, device);
  const auto usual = usual_steps(device);
  const auto steps = usual ? std::optional(with_beams(*usual, options.beams)) : std::nullopt;
  const auto mel = at::randn({model.dims().n_mels, 2 * model.dims().n_audio_ctx});
  const auto wait = [&] { gpu::synchronize(device.index()); };
  std::vector<CrossKv> windows;
  const auto most = std::ranges::max(slots_on(device, options));
  while (std::ssize(windows) < most) windows.push_back(model.cross_kv(model.encode(mel)));
  report_kernels(report, name + ", a window's encoding", [&] {
    model.cross_kv(model.encode(mel));
    wait();
  });
  for (const auto together : slots_on(device, options)) {
    SteppedWindows stepped(model, steps, windows, together, options.beams);
    report_kernels(report, name + ", a step of " + std::to_string(stepped.rows()), [&] { stepped.step_and_select(); });
  }
}

}  // namespace

void time_kernels(Report& report, at::Device device, const CheckOptions& options) {
  if (!device.is_cuda()) return report.note("kernels are timed on a GPU only");
  const c10::InferenceMode no_autograd;
  const auto sizes = options.sizes.empty() ? std::vector<std::string>{"large-v3"} : options.sizes;
  const auto names = options.types.empty() ? std::vector<std::string>{"float16"} : options.types;
  for (const auto& type : compute_types(device, names)) {
    for (const auto& size : sizes)
      report.attempt("kernels", size + " " + type.name(), [&] { time_size(report, device, size, type.type, options); });
  }
}

}  // namespace tutti
