#include "cli/worker/worker_machine.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/log.h"
#include "base/process/exit_code.h"
#include "cli/flags.h"
#include "cli/named_model.h"
#include "cli/transcribe_command.h"
#include "device/machine_devices.h"

namespace tutti {
namespace {

using Kind = ResolvedDevice::Kind;

/// None is needed where every device is emulated.
Result<std::filesystem::path> model_of(const WorkerCommand& command, const std::vector<ChosenDevice>& devices) {
  if (command.speech.model.empty()) {
    if (std::ranges::all_of(devices, [](const auto& d) { return d.device.kind == Kind::emulated; }))
      return std::filesystem::path();
    return fail(Fault::usage, "no model is named, and none is taken by default",
                "Name that of the batch with --model; 'tutti models' lists what is here");
  }
  ModelFolders folders = ModelFolders::from_environment();
  folders.first = command.speech.model_dir;
  return find_named_model(command.speech.model, folders);
}

}  // namespace

Result<TranscribeOptions> set_machine(const WorkerCommand& command, const std::string& line, JobRunOptions& options) {
  auto devices = devices_of_worker(command);
  if (!devices) return tl::unexpected(devices.error());
  auto prices = hourly_prices(command.prices, *devices);
  if (!prices) return tl::unexpected(prices.error());
  const auto model = model_of(command, *devices);
  if (!model) return tl::unexpected(model.error());
  TranscribeCommand speech = command.speech;
  if (command.sequential) speech.vad.batched = false;
  speech.output_format = command.output_format;
  auto run = run_options(speech, *model);
  if (!run) return tl::unexpected(run.error());
  if (auto set = set_tuning(command.speech.tuning, options.tuning); !set) return tl::unexpected(set.error());
  options.run = *run;
  options.devices = std::move(*devices);
  options.tests_devices = true;
  options.jobs_at_once = command.threads;
  options.prices = std::move(*prices);
  options.command = line;
  return run;
}

bool falls_back_to_cpu(const WorkerCommand& command, const Error& error, JobRunOptions& options) {
  const bool has_cpu = std::ranges::any_of(options.devices, [](const auto& d) { return d.device.kind == Kind::cpu; });
  if (!command.cpu_fallback || has_cpu || error.fault != Fault::device || options.run.model.empty()) return false;
  const auto listed = parse_device_list("cpu");
  auto cpu = listed ? choose_devices(*listed, find_devices()) : tl::unexpected<Error>(listed.error());
  auto prices = cpu ? hourly_prices(command.prices, *cpu) : tl::unexpected<Error>(cpu.error());
  if (!prices) return false;
  log(Level::warning, error.what + ". The worker runs on the CPU (--cpu-fallback), many times slower");
  options.devices = std::move(*cpu);
  options.prices = std::move(*prices);
  return true;
}

int exit_code(const BatchReport& report) {
  if (!report.ended_early.empty()) return report.done_now > 0 ? kSomeFailed : kNothingRan;
  if (report.interrupted) return kInterrupted;
  return report.counts.failed > 0 ? kSomeFailed : kDone;
}

}  // namespace tutti
