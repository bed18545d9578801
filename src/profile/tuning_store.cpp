#include "profile/tuning_store.h"

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "device/machine.h"

namespace tutti {
namespace {

constexpr const char* kMark = "tutti tuning 1";
constexpr int kMostThreads = 1024;  // of a stage: more were never set

std::filesystem::path file_of(const TuningKey& key) {
  return cache_folder() / "tuning" / (sha256_of(key.machine + "\n" + key.pipeline).substr(0, 24) + ".json");
}

/// This machine, as this process may use it.
std::string this_machine() {
  const CpuFacts cpu = read_cpu();
  return cpu.model.value_or("unknown processor") + ", " + std::to_string(cpu.cores) + " of " +
         std::to_string(cpu.machine_cores) + " cores";
}

}  // namespace

TuningKey key_of(const TuningPlan& plan) {
  TuningKey key{.machine = this_machine(), .pipeline = plan.pipeline + ":"};
  for (const LiveStage& stage : plan.stages) key.pipeline += " " + stage.name + (stage.is_open ? "" : " (fixed)");
  return key;
}

std::optional<ThreadSettings> recall_tuning(const TuningKey& key) {
  const auto text = read_file(file_of(key));
  if (!text) return std::nullopt;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || json.value("format", nlohmann::json()) != kMark) return std::nullopt;
  if (json.value("machine", nlohmann::json()) != key.machine ||
      json.value("pipeline", nlohmann::json()) != key.pipeline)
    return std::nullopt;
  const auto threads = json.find("threads");
  if (threads == json.end() || !threads->is_object()) return std::nullopt;
  ThreadSettings settings;
  for (const auto& [stage, count] : threads->items()) {
    if (!count.is_number_integer() || count < 1 || count > kMostThreads) return std::nullopt;
    settings.emplace_back(stage, count.get<int>());
  }
  return settings;
}

void remember_tuning(const TuningKey& key, const TuningResult& result) {
  nlohmann::ordered_json json{{"format", kMark},
                              {"machine", key.machine},
                              {"pipeline", key.pipeline},
                              {"threads", nlohmann::json::object()},
                              {"items_per_s", result.rate_now}};
  for (const auto& [stage, threads] : result.now) json["threads"][stage] = threads;
  const auto file = file_of(key);
  std::error_code made;
  std::filesystem::create_directories(file.parent_path(), made);
  (void)write_file_atomically(file, json_line(json) + "\n");  // a folder that takes no file costs the next run a second
}

}  // namespace tutti
