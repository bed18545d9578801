#include "cli/transcribe_command.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/log.h"
#include "base/terminal/controls.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/display/run_display.h"
#include "cli/memory_table.h"
#include "device/device_spec.h"
#include "device/machine.h"
#include "device/machine_devices.h"
#include "hub/find.h"
#include "hub/memory_plan.h"
#include "transcribe/interrupt.h"

namespace tutti {
namespace {

Display display_of(const TranscribeCommand& command) {
  if (command.json) return Display::json;
  if (command.quiet || !command.verbose) return Display::quiet;
  const bool on_terminal = ::isatty(STDOUT_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  const bool wants_text = command.verbose.value_or(false);
  return on_terminal || !wants_text ? Display::live : Display::plain;
}

Error no_model() {
  return {Fault::usage, "no model is named, and none is taken by default: which one fits depends on the audio",
          "Name one with --model or TUTTI_MODEL. 'tutti models' lists what is here; 'tutti pull tiny.en' gets a small "
          "English "
          "one, 'tutti pull turbo' a good one for 100 languages"};
}

/// The device's name, whether it is a GPU, and its free memory, of a GPU without what the driver will take.
struct DeviceMemory {
  std::string name{};
  bool gpu = false;
  Bytes available{};
};

std::optional<DeviceMemory> device_memory(const std::string& device) {
  const auto spec = parse_device(device);
  if (!spec) return {};
  const auto devices = find_devices();
  const auto chosen = resolve(*spec, devices);
  if (!chosen) return {};
  if (chosen->kind != ResolvedDevice::Kind::cuda) {
    const auto memory = read_memory();
    return memory ? std::optional(DeviceMemory{chosen->name, false, memory->available}) : std::nullopt;
  }
  for (const auto& gpu : devices.visible) {
    if (gpu.uuid != chosen->uuid || !gpu.memory_total) continue;
    const auto taken = gpu.memory_used.value_or(Bytes{}).value + kDriverMemory.value;
    return DeviceMemory{chosen->name, true, {std::max<std::int64_t>(0, gpu.memory_total->value - taken)}};
  }
  return {};
}

/// That a device which was named is there. Auto and the whole CPU always are, and asking the driver takes time. Where
/// nothing is left to do, its name alone must be one.
Result<void> find_named_device(const std::string& device, const std::vector<PlannedFile>& plan) {
  if (device == "auto" || device == "cpu") return {};
  const auto spec = parse_device(device);
  if (!spec) return tl::unexpected(spec.error());
  if (std::ranges::all_of(plan, &PlannedFile::already_done)) return {};
  const auto found = resolve(*spec, find_devices());
  if (!found) return tl::unexpected(found.error());
  return {};
}

/// What the engine's own kernels need.
bool has_avx2() {
  const auto cpu = read_cpu();
  return cpu.has("avx2") && cpu.has("fma");
}

void say_memory(const RunOptions& options) {
  const auto shape = model_shape(options.model);
  const auto device = device_memory(options.device);
  if (!shape || !device) {
    std::puts("How much memory it takes cannot be told before the model is loaded");
    return;
  }
  const auto usual = device->gpu ? kUsualGpuSlots : kUsualCpuSlots;
  std::fputs(memory_table({.shape = *shape,
                           .device = device->name,
                           .available = device->available,
                           .windows = options.batch_size > 0 ? options.batch_size : usual,
                           .beams = std::max(1, options.decoding.beam_size),
                           .byte_cross = device->gpu || has_avx2()})
                 .c_str(),
             stdout);
}

/// Why an input cannot be transcribed; empty: it can, or is standard input.
std::string trouble_with(const std::filesystem::path& input) {
  std::error_code ignored;
  if (std::filesystem::is_directory(input, ignored)) return "expected a sound file, found a folder";
  if (input == "-" || ::access(input.c_str(), R_OK) == 0) return "";
  return std::strerror(errno);
}

/// Exit code: as the run's will be for what is known before it.
int say_plan(const std::vector<PlannedFile>& plan, const RunOptions& options) {
  std::printf("Model %s, device %s, compute type %s\n", options.model.c_str(), options.device.c_str(),
              options.compute_type.c_str());
  say_memory(options);
  bool all_readable = true;
  const auto say = [](const std::string& line) { std::puts(without_controls(line).c_str()); };
  for (const auto& file : plan) {
    const std::string name = file.input.string();
    if (file.already_done) {
      say(name + " (done already)");
    } else if (const std::string trouble = trouble_with(file.input); !trouble.empty()) {
      say(name + ": " + trouble);
      all_readable = false;
    } else {
      say(name);
      for (const auto& output : file.outputs) say("  -> " + output.string());
    }
  }
  return all_readable ? kDone : kSomeFailed;
}

int stopped() {
  log(Level::warning, "stopped; finished files are kept. Run the same command with --skip-existing to go on");
  return kInterrupted;
}

int exit_code(const RunSummary& summary) {
  if (summary.interrupted) return stopped();
  return summary.failed > 0 ? kSomeFailed : kDone;
}

int transcribe(const std::vector<PlannedFile>& plan, const RunOptions& options, const TranscribeCommand& command) {
  if (const auto made = make_folders_of(plan); !made) return complain(made.error());
  Interrupt interrupt;
  const Display display = display_of(command);
  Result<RunSummary> summary = [&] {
    const auto observer = make_display(display, plan);
    return run_transcription(plan, options, *observer, interrupt);
  }();
  if (!summary && summary.error().fault == Fault::cancelled) return stopped();  // while the model was still loading
  if (!summary) return interrupt.raised() ? complain(summary.error(), kInterrupted) : complain(summary.error());
  if (display == Display::json)
    std::fputs(summary_json(*summary).c_str(), stdout);
  else if (display != Display::quiet)
    std::fputs(summary_text(*summary).c_str(), stderr);
  return exit_code(*summary);
}

}  // namespace

int run_transcribe(const std::vector<std::string>& arguments) {
  TranscribeCommand command;
  OptionTable table("transcribe",
                    "Speech to text with a Whisper model: every FILE becomes its transcript in --output-dir.");
  add_transcribe(table, command);
  table.examples({"tutti transcribe --model tiny.en talk.mp3",
                  "tutti transcribe --model turbo --language de -f srt -o subs --name-by path talks/*.mp3",
                  "tutti transcribe --model turbo --batched --compute-type auto -f txt -o out lecture.flac",
                  "tutti transcribe --model small --word-timestamps --max-words-per-line 4 -f vtt talk.m4a"});
  if (const auto code = start_command(table, arguments)) return *code;
  if (command.quiet) log_from(Level::error);

  const auto plan = plan_outputs(command.files, output_options(command));
  if (!plan) return complain(plan.error(), kUsage);
  if (command.model.empty()) return complain(no_model(), kUsage);
  ModelPlaces places = ModelPlaces::from_environment();
  places.first = command.model_dir;
  const auto model = find_model(command.model, places);
  if (!model) return complain(model.error());
  const auto options = run_options(command, *model);
  if (!options) return complain(options.error(), kUsage);
  if (const auto there = find_named_device(options->device, *plan); !there) return complain(there.error());
  if (command.dry_run) return say_plan(*plan, *options);
  return transcribe(*plan, *options, command);
}

}  // namespace tutti
