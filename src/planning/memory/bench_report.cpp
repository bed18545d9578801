#include "planning/memory/bench_report.h"

#include <cmath>
#include <cstdio>

#include "base/json.h"
#include "view/charts.h"
#include "view/text.h"

namespace tutti {
namespace {

constexpr double kMiB = 1 << 20;

std::string percent(const std::optional<double>& share) {
  return share ? short_number(100 * *share) + " %" : "?";
}

/// The compute type that was taken, where it is not the requested one.
std::string taken(const BenchTrial& trial) {
  return trial.compute_type == trial.setting.compute_type ? "" : "  (ran in " + trial.compute_type + ")";
}

nlohmann::json bytes_json(const std::optional<Bytes>& bytes) {
  return bytes ? nlohmann::json(bytes->value) : nlohmann::json();
}

/// The device's own memory, in MiB: the machine's memory that a GPU's worker holds does not show what fits.
std::string memory_text(const BenchTrial& trial) {
  const auto& bytes = trial.setting.device.starts_with("cpu") ? trial.memory : trial.gpu_memory;
  return bytes ? std::to_string(std::lround(static_cast<double>(bytes->value) / kMiB)) : "?";
}

nlohmann::ordered_json trial_json(const ScoredTrial& scored) {
  const BenchTrial& trial = scored.trial;
  nlohmann::ordered_json line{{"device", trial.setting.device},
                              {"compute_type", trial.setting.compute_type},
                              {"batch_size", trial.setting.batch_size}};
  if (trial.error) {
    line["error"] = trial.error->text();
    return line;
  }
  line["device_name"] = trial.device_name;
  line["compute_type_taken"] = trial.compute_type;
  line["audio_seconds"] = trial.audio.count();
  line["seconds"] = trial.elapsed.count();
  line["load_seconds"] = trial.load.count();
  line["x_real_time"] = trial.speed();
  line["worker_peak_bytes"] = bytes_json(trial.memory);
  line["gpu_peak_bytes"] = bytes_json(trial.gpu_memory);
  line["windows"] = trial.windows;
  line["decoder_steps"] = trial.decoder_steps;
  line["share_of_limit"] = scored.share_of_limit ? nlohmann::json(*scored.share_of_limit) : nlohmann::json();
  line["word_error_rate"] = scored.word_errors.value_or(0);
  return line;
}

}  // namespace

std::string setting_text(const BenchSetting& setting) {
  return setting.device + " " + setting.compute_type + " batch " + std::to_string(setting.batch_size);
}

std::string bench_heading() {
  return "setting                       x real time   of limit  memory MiB   words that differ";
}

std::string bench_row(const ScoredTrial& scored) {
  const BenchTrial& trial = scored.trial;
  const std::string name = fitted(setting_text(trial.setting), 30);
  if (trial.error) return name + "did not run: " + trial.error->what;
  char numbers[120];
  std::snprintf(numbers, sizeof numbers, "%11s %10s %11s %19s", short_number(trial.speed()).c_str(),
                percent(scored.share_of_limit).c_str(), memory_text(trial).c_str(),
                percent(scored.word_errors).c_str());
  return name + numbers + taken(trial);
}

std::string bench_measure(const BenchResult& result) {
  if (!result.reference) return {};
  const BenchTrial& reference = result.trials[*result.reference].trial;
  if (reference.compute_type == "float32") return {};
  return "Nothing ran in float32: words are compared with those of " + setting_text(reference.setting) +
         ", which may be wrong themselves.\n";
}

std::string bench_json(const BenchResult& result) {
  nlohmann::ordered_json all{{"trials", nlohmann::json::array()}};
  for (const auto& scored : result.trials) all["trials"].push_back(trial_json(scored));
  all["compared_with"] = result.reference ? nlohmann::json(setting_text(result.trials[*result.reference].trial.setting))
                                          : nlohmann::json();
  all["recommended"] = result.recommended ? nlohmann::json(flags_of(result.trials[*result.recommended].trial.setting))
                                          : nlohmann::json();
  return json_line(all) + "\n";
}

std::string bench_picture(const BenchResult& result, const std::string& model) {
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < result.trials.size(); ++i) {
    const auto& scored = result.trials[i];
    if (scored.trial.error) continue;
    bars.push_back({.label = setting_text(scored.trial.setting),
                    .value = scored.trial.speed(),
                    .text = short_number(scored.trial.speed()) + " x real time, " + percent(scored.share_of_limit) +
                            " of the limit",
                    .highlighted = result.recommended == i});
  }
  return bar_chart_svg("tutti bench: " + model, bars);
}

}  // namespace tutti
