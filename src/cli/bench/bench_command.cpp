#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "base/build_id.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/output_ownership.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "cli/bench/bench_memory.h"
#include "cli/bench/bench_report.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/named_model.h"
#include "device/device_spec.h"
#include "device/machine_devices.h"
#include "hub/files_of_model.h"
#include "hub/find.h"
#include "hub/memory_plan.h"
#include "hub/model_shape.h"
#include "transcribe/bench.h"
#include "view/markup.h"

namespace tutti {
namespace {

constexpr int kClipRepeats = 16;  // copies of the bundled clip: enough to fill a batch

struct BenchCommand {
  std::vector<std::string> files{};
  std::string model{};
  std::string devices = "auto";
  std::string compute_types = "auto";
  std::vector<std::int32_t> batch_sizes{};
  double seconds = 300;
  std::filesystem::path picture{};
  bool json = false;
  bool dry_run = false;
};

void add_bench(OptionTable& table, BenchCommand& c) {
  table.positional(c.files, "FILE...", "recordings to measure with; none: a clip of 29 s that comes with the program",
                   0);
  table.add("model", c.model, "DIR|NAME", "as for 'tutti transcribe'");
  table.add("devices", c.devices, "LIST",
            "cpu, cuda:0, ..., separated by commas; auto: the CPU and every GPU; "
            "with --dry-run also T4, which need not be here");
  table.add("compute-types", c.compute_types, "LIST", "as for 'tutti transcribe'; auto: all possible types");
  table.add("batch-sizes", c.batch_sizes, "LIST",
            "sequences stepped together; without it: 1, 4, 8 on a CPU, 1, 8, 32, 64 on a GPU");
  table.add("seconds", c.seconds, "S", "use the first S seconds of every file at most");
  table.add("picture", c.picture, "FILE.svg", "the speeds as a picture, replacing an earlier one only");
  table.add_switch("json", c.json, "one JSON object on standard output instead of the table");
  table.add_switch(
      "dry-run", c.dry_run,
      "say how much memory each setting takes and whether it fits, and stop; the model may be a name alone");
}

std::vector<std::string> words_in(const std::string& list) {
  std::vector<std::string> words;
  for (const auto word : split(list, ','))
    if (!word.empty()) words.emplace_back(word);
  return words;
}

/// What can be known before the first of many settings has taken its time.
Result<void> check(const BenchCommand& c) {
  if (c.model.empty())
    return fail(Fault::usage, "no model is named", "Name one with --model or TUTTI_MODEL; see 'tutti models'");
  if (std::ranges::find(c.files, "-") != c.files.end())
    return fail(Fault::usage, "-: standard input can be read once, and every setting reads the recordings",
                "Name a file");
  for (const std::int32_t size : c.batch_sizes)
    if (size < 1 || size > kLargestBatch)
      return fail(Fault::usage, "--batch-sizes: expected numbers from 1 to " + std::to_string(kLargestBatch) +
                                    ", found " + std::to_string(size));
  if (!std::isfinite(c.seconds) || c.seconds <= 0)
    return fail(Fault::usage, "--seconds: expected a number above 0, found " + number_text(c.seconds));
  for (const auto& device : words_in(c.devices))
    if (const auto spec = parse_device(device); !spec && !(c.dry_run && card_of_model(device)))
      return fail_in("--devices", spec.error());
  for (const auto& type : words_in(c.compute_types))
    if (type != "default" && type != "auto" && !number_sizes(type))
      return fail(Fault::usage, "--compute-types: expected auto or names of types, found '" + type + "'",
                  "They are default, float32, tf32, bfloat16, float16, int8 and int8_float16");
  return {};
}

/// That the picture would not be written onto what is measured with.
Result<OutputOwnership> claim_picture(const BenchCommand& c, const std::filesystem::path& model) {
  OutputOwnership owned("Name another file with --picture");
  for (const auto& file : c.files) owned.add_input(file);
  for (const auto& file : files_of_model(model)) owned.add_input(file);
  if (c.picture.empty()) return owned;
  if (auto claimed = owned.claim_marked(c.picture, "--picture", kBenchPictureMark); !claimed)
    return tl::unexpected(claimed.error());
  return owned;
}

/// The settings of one device.
std::vector<BenchSetting> grid_of(const BenchCommand& c, const std::string& device) {
  const bool cpu = device.starts_with("cpu");
  auto types = words_in(c.compute_types);
  if (c.compute_types == "auto")
    types = cpu ? std::vector<std::string>{"float32", "bfloat16", "int8"}
                : std::vector<std::string>{"float32", "tf32", "float16", "bfloat16", "int8_float16"};
  auto batch_sizes = c.batch_sizes;
  if (batch_sizes.empty()) batch_sizes = cpu ? std::vector{1, 4, 8} : std::vector{1, 8, 32, 64};
  return bench_grid({device}, types, batch_sizes);
}

std::vector<BenchSetting> settings_of(const BenchCommand& c) {
  auto devices = words_in(c.devices);
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

/// Settings in types that their devices do not have; each type is named once a device.
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

/// The arithmetic alone: neither the model's weights nor its device are touched.
int say_needs(const BenchCommand& c, const std::filesystem::path& model) {
  const auto shape = model_shape(model);
  if (!shape)
    return complain({Fault::unsupported, model.string() + ": how much memory it takes is not known before it is loaded",
                     "Expected a Hugging Face folder, a whisper.cpp file or a name with the size, such as large-v3"},
                    kNothingRan);
  if (!c.picture.empty()) log(Level::warning, "--picture has no effect with --dry-run: there are no speeds");
  auto settings = settings_of(c);
  std::map<std::string, DeviceMemory> devices;
  for (const auto& setting : settings) {
    if (devices.contains(setting.device)) continue;
    auto memory = card_of_model(setting.device);
    if (!memory) memory = device_memory(setting.device);
    if (memory) devices.emplace(setting.device, std::move(*memory));
  }
  leave_out_impossible(settings, devices);
  if (settings.empty())
    return complain({Fault::unsupported, "--compute-types: no device has any of them", "auto takes all that there are"},
                    kNothingRan);
  const auto needs = bench_needs(*shape, settings, devices);
  std::fputs((c.json ? bench_needs_json(needs) : bench_needs_text(needs)).c_str(), stdout);
  return kDone;
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

struct Measured {
  std::vector<BenchTrial> trials{};
  std::vector<std::optional<DeviceLimits>> limits{};
};

/// Runs all settings and prints each line when it is there. A setting that cannot run here is one of the results. What
/// would fail every setting alike (a recording, or Fault::usage for what is valid nowhere) ends it.
Result<Measured> measure(const BenchCommand& c, const std::vector<std::filesystem::path>& files,
                         const std::filesystem::path& model, StopSignal& stop) {
  Measured measured;
  LimitsQuery limits(model);
  TranscribeOptions common = bench_options(Seconds(c.seconds));
  common.build_id = build_id();
  common.model = model;
  if (!c.json) std::printf("%s\n", bench_heading().c_str());
  for (const auto& setting : settings_of(c)) {
    auto trial = run_trial(files, setting, common, stop);
    if (!trial) return tl::unexpected(trial.error());
    if (trial->error && trial->error->fault == Fault::usage) return tl::unexpected(*trial->error);
    measured.limits.push_back(limits.of(*trial));
    measured.trials.push_back(std::move(*trial));
    if (c.json) continue;
    std::printf("%s\n", bench_row(score_trials(measured.trials, measured.limits).trials.back()).c_str());
    std::fflush(stdout);
  }
  return measured;
}

int report(const BenchCommand& c, const BenchResult& result, const std::filesystem::path& model,
           const OutputOwnership& owned) {
  if (c.json) std::fputs(bench_json(result).c_str(), stdout);
  if (!c.picture.empty())
    if (auto written =
            owned.write(c.picture, marked_svg(bench_picture(result, model.filename().string()), kBenchPictureMark));
        !written)
      return complain(written.error(), kNothingRan);
  if (!result.recommended) return complain({Fault::device, "no setting could run"}, kNothingRan);
  if (!c.json)
    std::printf("\n%sFastest with the same words: %s\n", bench_measure(result).c_str(),
                flags_of(result.trials[*result.recommended].trial.setting).c_str());
  return kDone;
}

}  // namespace

int run_bench(const std::vector<std::string>& arguments) {
  BenchCommand command;
  OptionTable table("bench",
                    "How fast this machine transcribes in every way it can, whether all say the same, and which "
                    "flags to use.");
  add_bench(table, command);
  table.examples({"tutti bench --model tiny.en lecture.flac", "tutti bench --model large-v3 --dry-run"});
  if (const auto code = start_command(table, arguments)) return *code;
  if (auto checked = check(command); !checked) return complain(checked.error());
  if (auto file = expect_output_file("--picture", command.picture); !file) return complain(file.error());
  const auto model = find_named_model(command.model);
  if (command.dry_run) return say_needs(command, model ? *model : std::filesystem::path(command.model));
  if (!model) return complain(model.error());
  const auto owned = claim_picture(command, *model);
  if (!owned) return complain(owned.error());
  const auto clip = bundled_clip();
  if (!clip) return complain(clip.error(), kNothingRan);
  std::vector<std::filesystem::path> files(command.files.begin(), command.files.end());
  if (files.empty()) files.assign(kClipRepeats, clip->path);

  Interrupt interrupt;
  const auto measured = measure(command, files, *model, interrupt);
  if (!measured) return complain(measured.error(), interrupt);
  return report(command, score_trials(measured->trials, measured->limits), *model, *owned);
}

}  // namespace tutti
