#include "transcribe/bench/limits.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "device/device_spec.h"
#include "device/machine_devices.h"
#include "link/query_engine.h"

namespace tutti {
namespace {

constexpr Seconds kMeasuredWithin{60};

}  // namespace

Result<DeviceLimits> parse_limits(std::string_view text) {
  DeviceLimits limits;
  const std::map<std::string, double*> fields{{"flops", &limits.flops},
                                              {"bandwidth", &limits.bandwidth},
                                              {"window_flops", &limits.window_flops},
                                              {"step_bytes", &limits.step_bytes},
                                              {"sequence_bytes", &limits.sequence_bytes}};
  std::istringstream lines{std::string(text)};
  std::string name;
  for (double value = 0; lines >> name >> value;)
    if (const auto field = fields.find(name); field != fields.end()) *field->second = value;
  for (const auto& [key, value] : fields)
    if (!(*value > 0)) return fail(Fault::corrupt, "the engine's limits: '" + key + "' is missing or not positive");
  return limits;
}

Result<DeviceLimits> query_limits(const std::filesystem::path& model, const std::string& device,
                                const std::string& compute_type) {
  const auto spec = parse_device(device);
  if (!spec) return tl::unexpected(spec.error());
  const auto found = resolve(*spec, find_devices());
  if (!found) return tl::unexpected(found.error());
  const bool gpu = found->kind == ResolvedDevice::Kind::cuda;
  const auto output =
      query_engine({"limits", "--model", model.string(), "--device", gpu ? "cuda:0" : "cpu", "--compute-type",
                  compute_type, "--threads", found->core ? "1" : "0"},
                 {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}, {"CUDA_VISIBLE_DEVICES", found->uuid}}, kMeasuredWithin);
  if (!output) return tl::unexpected(output.error());
  return parse_limits(*output);
}

Seconds least_time(const DeviceLimits& limits, const BenchTrial& trial) {
  const auto windows = static_cast<double>(trial.windows);
  const double together = std::clamp(windows, 1.0, static_cast<double>(std::max(1, trial.setting.batch_size)));
  const double bytes = limits.step_bytes / together + limits.sequence_bytes;
  return Seconds(windows * limits.window_flops / limits.flops +
                 static_cast<double>(trial.decoder_steps) * bytes / limits.bandwidth);
}

}  // namespace tutti
