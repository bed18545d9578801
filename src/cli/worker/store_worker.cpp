#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/log.h"
#include "base/numbers.h"
#include "base/try.h"
#include "cli/batch/batch_control.h"
#include "cli/batch/batch_inputs.h"
#include "cli/batch/batch_log.h"
#include "cli/command_start.h"
#include "cli/interrupt.h"
#include "cli/named_model.h"
#include "cli/worker/worker_machine.h"
#include "transcribe/batch/batch_run.h"
#include "transcribe/bucket_outputs.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

struct StoreWork {
  BatchOptions options{};
  FollowOptions follow{};
};

Result<StoreWork> prepare(const WorkerCommand& command, const std::string& line) {
  auto named = TRY(store_named(command.state, command.store));
  StoreWork work;
  BatchOptions& options = work.options;
  auto run = TRY(set_machine(command, line, options));
  BatchCommand batch{.other = command.other, .speech = command.speech, .output_format = command.output_format};
  if (command.sequential) batch.speech.vad.batched = false;
  batch.speech.output_format = command.output_format;
  const bool emulated = std::ranges::any_of(
      options.devices, [](const auto& d) { return d.device.kind == ResolvedDevice::Kind::emulated; });
  auto fingerprint = TRY(fingerprint_of(batch, options.run.model, emulated, /*is_shared=*/true));
  auto formats = TRY(parse_formats(command.output_format));
  work.follow = {std::move(fingerprint), std::move(formats), Seconds(command.idle_timeout * 60)};
  options.writer = run.writer;
  options.batch = named.store.text();
  options.state = named.folder;
  options.server = named.store;
  options.lease = TRY(lease_length(command.lease));
  options.objects = std::make_shared<BucketOutputs>();
  options.staging = fs::absolute(named.folder).lexically_normal() / "runner" / ".tmp";
  return work;
}

}  // namespace

void default_as_batch(OptionTable& table, WorkerCommand& command) {
  if (table.given_by("model") == SourceKind::standard) command.speech.model.clear();
  if (table.given_by("word-timestamps") == SourceKind::standard) command.speech.word_timestamps = false;
}

WorkerEnd work_on_store(const WorkerCommand& command, const std::string& line) {
  auto work = prepare(command, line);
  if (!work) return {complain(work.error())};
  Interrupt interrupt(std::chrono::milliseconds(static_cast<std::int64_t>(command.drain_seconds * 1000)));
  log(Level::info, "Worker on the store " + work->options.batch + ", idle timeout " +
                       number_text(command.idle_timeout) + " minutes");
  BatchLog observer({}, [](const PoolView&) { return std::optional<FleetStatus>(); });
  std::unique_ptr<ControlSocket> socket;
  const auto run = [&] {
    return follow_store(work->follow, work->options, observer, interrupt, [&](BatchControl* now) {
      socket.reset();
      if (now) socket = open_control_socket(*now);
    });
  };
  auto report = run();
  if (!report && falls_back_to_cpu(command, report.error(), work->options)) report = run();
  if (!report) return {complain(report.error(), interrupt)};
  log(Level::info, "Total jobs processed: " + std::to_string(report->done_now) + " of " +
                       std::to_string(report->counts.total) + " taken (" + std::to_string(report->counts.failed) +
                       " failed for good)");
  if (!report->ended_early.empty()) log(Level::error, report->ended_early);
  return {exit_code(*report), report->ended_early.empty() && !report->interrupted};
}

}  // namespace tutti
