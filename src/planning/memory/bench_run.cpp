#include "planning/memory/bench_run.h"

#include <optional>
#include <set>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "base/try.h"
#include "device/machine_devices.h"

namespace tutti {
namespace {

/// The settings of one device.
std::vector<BenchSetting> grid_of(const BenchChoice& c, const std::string& device) {
  const bool cpu = device.starts_with("cpu");
  auto types = bench_words(c.compute_types);
  if (c.compute_types == "auto")
    types = cpu ? std::vector<std::string>{"float32", "bfloat16", "int8"}
                : std::vector<std::string>{"float32", "tf32", "float16", "bfloat16", "int8_float16"};
  auto batch_sizes = c.batch_sizes;
  if (batch_sizes.empty()) batch_sizes = cpu ? std::vector{1, 4, 8} : std::vector{1, 8, 32, 64};
  return bench_grid({device}, types, batch_sizes);
}

/// Limits by device and compute type, each queried once.
class LimitsQuery {
 public:
  explicit LimitsQuery(std::filesystem::path model) : model_(std::move(model)) {}

  std::optional<DeviceLimits> of(const BenchTrial& trial) {
    if (trial.error) return {};
    const auto key = trial.setting.device + " " + trial.compute_type;
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    const auto limits = query_limits(model_, trial.setting.device, trial.compute_type);
    if (!limits) log(Level::warning, limits.error().text());
    return known_[key] = limits ? std::optional(*limits) : std::nullopt;
  }

 private:
  std::filesystem::path model_;
  std::map<std::string, std::optional<DeviceLimits>> known_;
};

}  // namespace

std::vector<std::string> bench_words(const std::string& list) {
  std::vector<std::string> words;
  for (const auto word : split(list, ','))
    if (!word.empty()) words.emplace_back(word);
  return words;
}

std::vector<BenchSetting> bench_settings(const BenchChoice& c) {
  auto devices = bench_words(c.devices);
  if (c.devices == "auto") {
    devices = {"cpu"};
    const auto gpus = find_devices().visible.size();
    for (std::size_t i = 0; i < gpus; ++i) devices.push_back("cuda:" + std::to_string(i));
  }
  std::vector<BenchSetting> settings;
  for (const auto& device : devices)
    for (auto& setting : grid_of(c, device)) settings.push_back(std::move(setting));
  return settings;
}

std::map<std::string, DeviceMemory> memory_of_devices(const std::vector<BenchSetting>& settings) {
  std::map<std::string, DeviceMemory> devices;
  for (const auto& setting : settings) {
    if (devices.contains(setting.device)) continue;
    auto memory = card_of_model(setting.device);
    if (!memory) memory = device_memory(setting.device);
    if (memory) devices.emplace(setting.device, std::move(*memory));
  }
  return devices;
}

void leave_out_impossible(std::vector<BenchSetting>& settings, const std::map<std::string, DeviceMemory>& devices) {
  std::map<std::string, std::set<std::string>> left_out;
  std::erase_if(settings, [&](const BenchSetting& setting) {
    const auto device = devices.find(setting.device);
    if (device == devices.end() || computes_in(setting.compute_type, device->second)) return false;
    left_out[setting.device].insert(setting.compute_type);
    return true;
  });
  for (const auto& [device, types] : left_out)
    log(Level::info, device + ": left out what it cannot compute in: " + joined(types, ", "));
}

Result<BenchResult> measure_settings(const std::vector<std::filesystem::path>& files,
                                     const std::vector<BenchSetting>& settings, const TranscribeOptions& common,
                                     StopSignal& stop, const std::function<void(const ScoredTrial&)>& on_trial) {
  std::vector<BenchTrial> trials;
  std::vector<std::optional<DeviceLimits>> known;
  LimitsQuery limits(common.model);
  for (const auto& setting : settings) {
    auto trial = TRY(run_trial(files, setting, common, stop));
    if (trial.error && trial.error->fault == Fault::usage) return tl::unexpected(*trial.error);
    known.push_back(limits.of(trial));
    trials.push_back(std::move(trial));
    on_trial(score_trials(trials, known).trials.back());
  }
  return score_trials(trials, known);
}

}  // namespace tutti
