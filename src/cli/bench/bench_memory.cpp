#include "cli/bench/bench_memory.h"

#include <array>
#include <cstdio>

#include "base/json.h"
#include "base/numbers.h"
#include "cli/bench/bench_report.h"
#include "view/text.h"

namespace tutti {
namespace {

DeviceMemory unknown(const std::string& device) {
  return {.name = device, .gpu = !device.starts_with("cpu")};
}

std::string fit_text(const BenchNeed& need) {
  if (!need.available) return "not known here";
  return need.fits() ? "fits" : "does not fit";
}

std::string line(const std::string& setting, const std::array<std::string, 5>& cells) {
  char text[160];
  std::snprintf(text, sizeof text, "%10s %12s %14s %12s %12s", cells[0].c_str(), cells[1].c_str(), cells[2].c_str(),
                cells[3].c_str(), cells[4].c_str());
  return fitted(setting, 40) + text;
}

}  // namespace

std::vector<BenchNeed> bench_needs(const ModelShape& shape, const std::vector<BenchSetting>& settings,
                                   const std::map<std::string, DeviceMemory>& devices) {
  std::vector<BenchNeed> needs;
  for (const BenchSetting& setting : settings) {
    const auto known = devices.find(setting.device);
    const bool is_known = known != devices.end();
    const DeviceMemory device = is_known ? known->second : unknown(setting.device);
    const MemoryPlan plan = memory_plan(shape, sizes_there(setting.compute_type, device));
    const auto encoded = is_known ? encoded_together(plan, device.available, setting.batch_size, 1) : kEncodedTogether;
    needs.push_back({.setting = setting,
                     .plan = plan,
                     .together = {plan.in_work(setting.batch_size, 1).value + plan.more_encoded(encoded).value},
                     .available = is_known ? std::optional(device.available) : std::nullopt});
  }
  return needs;
}

std::string bench_needs_text(const std::vector<BenchNeed>& needs) {
  std::string text = line("setting", {"weights", "per window", "per sequence", "together", "free"}) + "\n";
  for (const BenchNeed& need : needs) {
    text += line(setting_text(need.setting), {megabytes_text(need.plan.weights), megabytes_text(need.plan.window),
                                              megabytes_text(need.plan.sequence), megabytes_text(need.together),
                                              need.available ? megabytes_text(*need.available) : "?"}) +
            "  " + fit_text(need) + "\n";
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
