#include "cli/dry_run.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/process/exit_code.h"
#include "base/terminal/controls.h"
#include "cli/command_start.h"
#include "cli/device_memory.h"
#include "cli/display/json_events.h"
#include "cli/memory_table.h"
#include "hub/memory_plan.h"

namespace tutti {
namespace {

/// Nothing where it is not known before the model is loaded.
std::optional<MemoryQuestion> question_of(const RunOptions& options) {
  const auto shape = model_shape(options.model);
  const auto device = device_memory(options.device);
  if (!shape || !device) return std::nullopt;
  const auto usual = device->gpu ? kUsualGpuSlots : kUsualCpuSlots;
  return MemoryQuestion{.shape = *shape,
                        .device = device->name,
                        .available = device->available,
                        .windows = options.batch_size > 0 ? options.batch_size : usual,
                        .beams = std::max(1, options.decoding.beam_size),
                        .fillers = options.deterministic ? kFixedRows : 0,
                        .gpu = device->gpu,
                        .byte_cross = device->byte_cross};
}

void say_memory(const RunOptions& options) {
  const auto question = question_of(options);
  std::fputs(question ? memory_table(*question).c_str()
                      : "How much memory it takes is not known before the model is loaded\n",
             stdout);
}

/// Why a file that is to be read cannot be; empty: it can, or is standard input.
std::string problem_of(const PlannedFile& file) {
  std::error_code ignored;
  if (file.already_done || file.input == "-") return "";
  if (std::filesystem::is_directory(file.input, ignored)) return "expected a sound file, found a folder";
  return ::access(file.input.c_str(), R_OK) == 0 ? "" : std::strerror(errno);
}

void say_file(const PlannedFile& file, const std::string& problem) {
  const auto say = [](const std::string& line) { std::puts(without_controls(line).c_str()); };
  const std::string name = file.input.string();
  if (file.already_done) return say(name + " (done already)");
  if (!problem.empty()) return say(name + ": " + problem);
  say(name);
  for (const auto& output : file.outputs) say("  -> " + output.string());
}

}  // namespace

int dry_run(const std::vector<PlannedFile>& plan, const RunOptions& options, bool json) {
  if (const auto folders = expect_folders_of(plan); !folders) return complain(folders.error(), kNothingRan);
  if (json) {
    if (const auto question = question_of(options)) std::fputs(memory_json(*question).c_str(), stdout);
  } else {
    std::printf("Model %s, device %s, compute type %s\n", options.model.c_str(), options.device.c_str(),
                options.compute_type.c_str());
    say_memory(options);
  }
  int exit_code = kDone;
  for (const auto& file : plan) {
    const std::string problem = problem_of(file);
    if (!problem.empty()) exit_code = kSomeFailed;
    if (json)
      std::fputs(planned_json(file, problem).c_str(), stdout);
    else
      say_file(file, problem);
  }
  return exit_code;
}

}  // namespace tutti
