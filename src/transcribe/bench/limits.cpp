#include "transcribe/bench/limits.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <sstream>

#include "base/child.h"
#include "base/files.h"
#include "device/device_spec.h"
#include "device/machine_devices.h"
#include "link/engine_command.h"

namespace tutti {
namespace {

constexpr Seconds kMeasuredWithin{60};

std::string read_all(const OwnedFd& fd) {
  std::string said;
  char block[256];
  for (ssize_t got = 0; (got = ::read(fd.get(), block, sizeof block)) > 0;)
    said.append(block, static_cast<std::size_t>(got));
  return said;
}

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

Result<DeviceLimits> ask_limits(const std::filesystem::path& model, const std::string& device,
                                const std::string& compute_type) {
  const auto spec = parse_device(device);
  if (!spec) return tl::unexpected(spec.error());
  const auto found = resolve(*spec, find_devices());
  if (!found) return tl::unexpected(found.error());
  const bool gpu = found->kind == ResolvedDevice::Kind::cuda;
  const auto command = engine_command(
      EngineSettings::of_this_process(),
      {"limits", "--model", model.string(), "--device", gpu ? "cuda:0" : "cpu", "--compute-type", compute_type});
  if (!command) return tl::unexpected(command.error());
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return tl::unexpected(system_error("limits", "no pipe to read from", errno));
  const OwnedFd answer(ends[0]);
  OwnedFd theirs(ends[1]);
  const auto child =
      Child::start({.name = "tutti-engine limits",
                    .command = command->words,
                    .environment = {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}, {"CUDA_VISIBLE_DEVICES", found->uuid}},
                    .handed = {{theirs.get(), STDOUT_FILENO}},
                    .streams = ChildStreams::errors});
  if (!child) return tl::unexpected(child.error());
  theirs = OwnedFd();
  const std::string said = read_all(answer);
  if (const auto& end = (*child)->end(kMeasuredWithin); end.status != 0 || end.signal != 0)
    return fail(Fault::device, "tutti-engine limits " + end.words);
  return parse_limits(said);
}

Seconds least_time(const DeviceLimits& limits, const BenchTrial& trial) {
  const auto windows = static_cast<double>(trial.windows);
  const double together = std::clamp(windows, 1.0, static_cast<double>(std::max(1, trial.setting.batch_size)));
  const double bytes = limits.step_bytes / together + limits.sequence_bytes;
  return Seconds(windows * limits.window_flops / limits.flops +
                 static_cast<double>(trial.decoder_steps) * bytes / limits.bandwidth);
}

}  // namespace tutti
