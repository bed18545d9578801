#include "train/plan/plan_text.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"

namespace tutti {

using Json = nlohmann::ordered_json;

std::string in_lines(const TextTable& table) {
  constexpr std::size_t kWidth = 140;
  std::string text;
  for (const auto& line : lay_out(table, kWidth)) text += line + "\n";
  return text;
}

std::string in_lines_without_constants(TextTable table) {
  const std::string constants = take_constant_columns(table);
  return in_lines(table) + (constants.empty() ? "" : "in every row: " + constants + "\n");
}

std::string batch_text(const FittedBatch& batch) {
  return batch.batch_size > 0 ? std::to_string(batch.batch_size) : "does not fit";
}

std::string batch_table(const std::vector<PlannedTraining>& planned) {
  const bool has_settings = std::ranges::any_of(planned, [](const auto& each) { return !each.setting.empty(); });
  TextTable table{.columns = {{"GPU"}}};
  if (has_settings) table.columns.push_back({"with"});
  for (const char* title : {"largest batch-size", "recommended", "ring", "network", "activations", "in all"})
    table.columns.push_back({.title = title, .right = true});
  for (const auto& [gpu, setting, memory, batch] : planned) {
    auto& row = table.rows.emplace_back(std::vector{gpu.name});
    if (has_settings) row.push_back(setting.empty() ? "-" : "--" + setting);
    for (auto& cell : {batch_text(batch), std::to_string(batch.recommended_batch), bytes_text(batch.ring),
                       bytes_text(memory.fixed), bytes_text(batch.activations), bytes_text(batch.total)})
      row.push_back(cell);
  }
  return in_lines_without_constants(std::move(table));
}

Json json_of(const PlannedTraining& planned, std::int64_t ring_depth) {
  const auto& [gpu, setting, memory, batch] = planned;
  Json json{{"name", gpu.name}, {"memory_bytes", gpu.memory.value}};
  if (!setting.empty()) json["with"] = setting;
  json.update(Json{{"batch_size", batch.batch_size},
                   {"recommended_batch_size", batch.recommended_batch},
                   {"ring_depth", ring_depth},
                   {"ring_bytes", batch.ring.value},
                   {"network_bytes", memory.fixed.value},
                   {"activation_bytes", batch.activations.value},
                   {"total_bytes", batch.total.value}});
  return json;
}

std::string dry_run_text(const DryRun& run, const std::string& what, const std::string& samples) {
  return "dry run on the processor: " + what + " held " + bytes_text(run.held) + " for " + std::to_string(run.samples) +
         " " + samples + "; computed were " + bytes_text(run.computed) + ". The plan has the larger.\n";
}

Json json_of(const DryRun& run, const std::string& samples) {
  return {{samples, run.samples}, {"held_bytes", run.held.value}, {"computed_bytes", run.computed.value}};
}

}  // namespace tutti
