#include "planning/memory/bench_memory.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/json.h"
#include "base/numbers.h"
#include "transcribe/worker_start.h"
#include "view/text.h"

namespace tutti {
namespace {

DeviceMemory unknown(const std::string& device) {
  return {.name = device, .gpu = !device.starts_with("cpu")};
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
}

std::string cells(const std::string& first, const std::vector<std::string>& others) {
  std::string line = fitted(first, 12);
  for (const auto& cell : others) line += right(cell, 14);
  return line + "\n";
}

/// One device's, in the order of its settings.
std::string table_of(std::span<const BenchNeed* const> needs) {
  std::vector<std::string> head{"weights", "per window", "per sequence"};
  std::vector<std::string> types;
  std::vector<std::int32_t> sizes;
  std::map<std::pair<std::string, std::int32_t>, const BenchNeed*> by_setting;
  for (const BenchNeed* need : needs) {
    const auto& setting = need->setting;
    by_setting[{setting.compute_type, setting.batch_size}] = need;
    if (std::ranges::find(types, setting.compute_type) == types.end()) types.push_back(setting.compute_type);
    if (std::ranges::find(sizes, setting.batch_size) == sizes.end()) sizes.push_back(setting.batch_size);
  }
  for (const auto size : sizes) head.push_back(std::to_string(size) + (size == 1 ? " window" : " windows"));
  const auto& available = needs.front()->available;
  std::string text = needs.front()->setting.device + ": " +
                     (available ? megabytes_text(*available) + " are free" : "how much is free is not known here") +
                     "\n" + cells("", head);
  bool too_large = false;
  for (const auto& type : types) {
    std::vector<std::string> line;
    for (const auto size : sizes) {
      const BenchNeed& need = *by_setting.at({type, size});
      if (line.empty())
        line = {megabytes_text(need.plan.weights), megabytes_text(need.plan.window),
                megabytes_text(need.plan.sequence)};
      const bool fits = !need.available || need.fits();
      too_large = too_large || !fits;
      line.push_back(megabytes_text(need.together) + (fits ? " " : "*"));
    }
    text += cells(type, line);
  }
  return text + (too_large ? "* does not fit\n" : "");
}

}  // namespace

std::vector<BenchNeed> bench_needs(const ModelShape& shape, const std::vector<BenchSetting>& settings,
                                   const std::map<std::string, DeviceMemory>& devices) {
  const auto positions = text_positions_of(bench_options(Seconds(0)), shape);
  std::vector<BenchNeed> needs;
  for (const BenchSetting& setting : settings) {
    const auto known = devices.find(setting.device);
    const bool is_known = known != devices.end();
    const DeviceMemory device = is_known ? known->second : unknown(setting.device);
    const MemoryPlan plan = memory_plan(shape, sizes_there(setting.compute_type, device), positions);
    const auto encoded = is_known ? encoded_together(plan, device.available, setting.batch_size, 1) : kEncodedTogether;
    needs.push_back({.setting = setting,
                     .plan = plan,
                     .together = {plan.in_work(setting.batch_size, 1).value + plan.more_encoded(encoded).value},
                     .available = is_known ? std::optional(device.available) : std::nullopt});
  }
  return needs;
}

std::string bench_needs_text(const std::vector<BenchNeed>& needs) {
  std::vector<std::string> devices;
  for (const BenchNeed& need : needs)
    if (std::ranges::find(devices, need.setting.device) == devices.end()) devices.push_back(need.setting.device);
  std::string text;
  for (const auto& device : devices) {
    std::vector<const BenchNeed*> of_device;
    for (const BenchNeed& need : needs)
      if (need.setting.device == device) of_device.push_back(&need);
    text += (text.empty() ? "" : "\n") + table_of(of_device);
  }
  return text;
}

std::string bench_needs_json(const std::vector<BenchNeed>& needs) {
  nlohmann::ordered_json all{{"settings", nlohmann::json::array()}};
  for (const BenchNeed& need : needs) {
    const bool known = need.available.has_value();
    all["settings"].push_back({{"device", need.setting.device},
                               {"compute_type", need.setting.compute_type},
                               {"batch_size", need.setting.batch_size},
                               {"weights_bytes", need.plan.weights.value},
                               {"window_bytes", need.plan.window.value},
                               {"sequence_bytes", need.plan.sequence.value},
                               {"workspace_bytes", need.plan.workspace.value},
                               {"together_bytes", need.together.value},
                               {"available_bytes", known ? nlohmann::json(need.available->value) : nlohmann::json()},
                               {"fits", known ? nlohmann::json(need.fits()) : nlohmann::json()}});
  }
  return json_line(all) + "\n";
}

}  // namespace tutti
