#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "base/build_id.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/output_ownership.h"
#include "base/process/exit_code.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/named_model.h"
#include "device/device_spec.h"
#include "hub/files_of_model.h"
#include "hub/find.h"
#include "hub/memory_plan.h"
#include "hub/model_shape.h"
#include "planning/memory/bench_memory.h"
#include "planning/memory/bench_report.h"
#include "planning/memory/bench_run.h"
#include "transcribe/bench.h"
#include "view/markup.h"

namespace tutti {
namespace {

constexpr int kClipRepeats = 16;  // copies of the bundled clip: enough to fill a batch

struct BenchCommand {
  std::vector<std::string> files{};
  std::string model{};
  BenchChoice choice{};
  double seconds = 300;
  std::filesystem::path picture{};
  bool json = false;
  bool dry_run = false;
};

void add_bench(OptionTable& table, BenchCommand& c) {
  table.positional(c.files, "FILE...", "recordings to measure with; none: a clip of 29 s that comes with the program",
                   0);
  table.add("model", c.model, "DIR|NAME", "as for 'tutti transcribe'");
  table.add("devices", c.choice.devices, "LIST",
            "cpu, cuda:0, ..., separated by commas; auto: the CPU and every GPU; "
            "with --dry-run also T4, which need not be here");
  table.add("compute-types", c.choice.compute_types, "LIST", "as for 'tutti transcribe'; auto: all possible types");
  table.add("batch-sizes", c.choice.batch_sizes, "LIST",
            "sequences stepped together; without it: 1, 4, 8 on a CPU, 1, 8, 32, 64 on a GPU");
  table.add("seconds", c.seconds, "S", "use the first S seconds of every file at most");
  table.add("picture", c.picture, "FILE.svg", "the speeds as a picture, replacing an earlier one only");
  table.add_switch("json", c.json, "one JSON object on standard output instead of the table");
  table.add_switch(
      "dry-run", c.dry_run,
      "say how much memory each setting takes and whether it fits, and stop; the model may be a name alone");
}

/// What can be known before the first of many settings has taken its time.
Result<void> check(const BenchCommand& c) {
  if (c.model.empty())
    return fail(Fault::usage, "no model is named", "Name one with --model or TUTTI_MODEL; see 'tutti models'");
  if (std::ranges::find(c.files, "-") != c.files.end())
    return fail(Fault::usage, "-: standard input can be read once, and every setting reads the recordings",
                "Name a file");
  for (const std::int32_t size : c.choice.batch_sizes)
    if (size < 1 || size > kLargestBatch)
      return fail(Fault::usage, "--batch-sizes: expected numbers from 1 to " + std::to_string(kLargestBatch) +
                                    ", found " + std::to_string(size));
  if (!std::isfinite(c.seconds) || c.seconds <= 0)
    return fail(Fault::usage, "--seconds: expected a number above 0, found " + number_text(c.seconds));
  for (const auto& device : bench_words(c.choice.devices))
    if (const auto spec = parse_device(device); !spec && !(c.dry_run && card_of_model(device)))
      return fail_in("--devices", spec.error());
  for (const auto& type : bench_words(c.choice.compute_types))
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
  TRY(owned.claim_marked(c.picture, "--picture", kBenchPictureMark));
  return owned;
}

/// The arithmetic alone: neither the model's weights nor its device are touched.
int say_needs(const BenchCommand& c, const std::filesystem::path& model) {
  const auto shape = model_shape(model);
  if (!shape)
    return complain({Fault::unsupported, model.string() + ": how much memory it takes is not known before it is loaded",
                     "Expected a Hugging Face folder, a whisper.cpp file or a name with the size, such as large-v3"},
                    kNothingRan);
  if (!c.picture.empty()) log(Level::warning, "--picture has no effect with --dry-run: there are no speeds");
  auto settings = bench_settings(c.choice);
  const auto devices = memory_of_devices(settings);
  leave_out_impossible(settings, devices);
  if (settings.empty())
    return complain({Fault::unsupported, "--compute-types: no device has any of them", "auto takes all that there are"},
                    kNothingRan);
  const auto needs = bench_needs(*shape, settings, devices);
  std::fputs((c.json ? bench_needs_json(needs) : bench_needs_text(needs)).c_str(), stdout);
  return kDone;
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
  TranscribeOptions common = bench_options(Seconds(command.seconds));
  common.build_id = build_id();
  common.model = *model;
  if (!command.json) std::printf("%s\n", bench_heading().c_str());
  const auto measured =
      measure_settings(files, bench_settings(command.choice), common, interrupt, [&](const ScoredTrial& trial) {
        if (command.json) return;
        std::printf("%s\n", bench_row(trial).c_str());
        std::fflush(stdout);
      });
  if (!measured) return complain(measured.error(), interrupt);
  return report(command, *measured, *model, *owned);
}

}  // namespace tutti
