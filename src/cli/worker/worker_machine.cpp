#include "cli/worker/worker_machine.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/log.h"
#include "base/process/exit_code.h"
#include "base/try.h"
#include "cli/flags.h"
#include "cli/named_model.h"
#include "cli/transcribe_command.h"
#include "device/machine_devices.h"

namespace tutti {
namespace {

using Kind = ResolvedDevice::Kind;

/// None is needed where every device is emulated.
Result<std::filesystem::path> model_of(const WorkerCommand& command, const std::vector<ChosenDevice>& devices) {
  const bool is_played = std::ranges::any_of(devices, [](const auto& d) { return d.device.kind == Kind::emulated; });
  if (command.other && is_played)
    return fail(Fault::usage, "--engine: emulated devices have no engine, tutti plays them itself",
                "Name cpu or cuda:N with --devices");
  if (command.other) return std::filesystem::path(command.speech.model);
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
  auto devices = TRY(devices_of_worker(command));
  auto prices = TRY(hourly_prices(command.prices, devices));
  const auto model = TRY(model_of(command, devices));
  TranscribeCommand speech = command.speech;
  if (command.sequential) speech.vad.batched = false;
  speech.output_format = command.output_format;
  auto run = TRY(run_options(speech, model));
  TRY(set_tuning(command.speech.tuning, options.tuning));
  options.run = run;
  options.run.engine = command.other;
  options.devices = std::move(devices);
  options.tests_devices = true;
  options.jobs_at_once = command.threads;
  options.prices = std::move(prices);
  options.command = line;
  return run;
}

bool falls_back_to_cpu(const WorkerCommand& command, const Error& error, JobRunOptions& options) {
  const bool has_cpu = std::ranges::any_of(options.devices, [](const auto& d) { return d.device.kind == Kind::cpu; });
  if (!command.cpu_fallback || has_cpu || error.fault != Fault::device) return false;
  if (options.run.model.empty() && !options.run.engine) return false;  // the devices are emulated
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
