#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/owned.h"
#include "base/periodic_thread.h"
#include "base/time_text.h"
#include "base/try.h"
#include "cli/batch/batch_control.h"
#include "cli/batch/batch_log.h"
#include "cli/batch/engine_options.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/named_model.h"
#include "cli/on_idle.h"
#include "cli/worker/worker_flags.h"
#include "cli/worker/worker_machine.h"
#include "cloud/instance_metadata.h"
#include "cloud/job_message.h"
#include "hub/files_of_model.h"
#include "jobs/open_store.h"
#include "runner/remote_run.h"
#include "transcribe/pool/device_pool.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// As Python's logging writes it: local time, with milliseconds behind a comma.
std::string line_of(Level level, std::string_view text) {
  const auto now = std::chrono::system_clock::now();
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ",%03d", static_cast<int>(milliseconds));
  return local_text(now) + fraction.data() + " - " + note_level(level) + " - " + std::string(text) + "\n";
}

/// In one write, so that lines of two workers do not mix. A full disk costs the line and no job.
void append(const OwnedFd& file, const std::string& line) {
  if (file) static_cast<void>(!::write(file.get(), line.data(), line.size()));
}

Result<OwnedFd> open_log(const fs::path& path) {
  OwnedFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file) return fail_errno(path.string(), "cannot be written");
  return file;
}

/// Logs in the form of field note 001 to standard error and, where a folder is named, to files that its guide searches:
/// transcription-worker.log has all lines, gpu-test.log those on a GPU's test. Both go on where an earlier worker's
/// end.
Result<void> log_as_worker(const fs::path& folder) {
  struct Files {
    OwnedFd all{}, gpu_test{};
  };
  const auto files = std::make_shared<Files>();
  if (!folder.empty()) {
    if (auto made = make_folders(folder); !made) return made;
    for (auto [file, name] :
         {std::pair(&files->all, "transcription-worker.log"), std::pair(&files->gpu_test, "gpu-test.log")}) {
      auto opened = TRY(open_log(folder / name));
      *file = std::move(opened);
    }
  }
  set_log_sink([files](Level level, std::string_view text) {
    const std::string line = line_of(level, text);
    std::fputs(line.c_str(), stderr);
    append(files->all, line);
    if (text.starts_with(kGpuTestPassed)) append(files->gpu_test, line);
  });
  return {};
}

Result<RunnerOptions> runner_options(const WorkerCommand& command, QueueUrl queue, const std::string& line) {
  RunnerOptions options;
  TRY(set_machine(command, line, options));
  auto digest = TRY(command.other ? Result<std::string>(command.other->name + "|" + command.speech.model)
                                  : digest_of_model(options.run.model));
  options.batch = queue.url;
  options.queue = std::move(queue);
  options.bucket = command.s3_bucket;
  options.worker_id = "worker-" + random_uuid();
  options.model_name = command.speech.model;
  if (command.other) {
    options.model_name = command.other->name;
    if (!command.speech.model.empty()) options.model_name += ", " + command.speech.model;
  }
  options.model_digest = std::move(digest);
  options.visibility = command.visibility;
  options.prefetch = command.prefetch;
  options.idle_timeout = Seconds(command.idle_timeout * 60);
  return options;
}

/// Of this process and its children: no other thread is there yet.
Result<void> take_temporary_folder(const fs::path& folder) {
  if (!folder.empty()) ::setenv("TMPDIR", folder.c_str(), 1);
  std::error_code why;
  if (!folder.empty()) fs::create_directories(folder, why);
  if (!why) why = why_not_writable(temporary_folder());
  if (!why) return {};
  const Error error = system_error(temporary_folder().string(), "recordings cannot be fetched there", why.value());
  return fail(error.fault, error.what, "Name a folder that is yours to write to with --temp-dir");
}

/// How the run is set up, as the note's worker logs it.
void log_start(const RunnerOptions& options, const WorkerCommand& command, const std::string& region) {
  log(Level::info, "Transcription worker " + options.worker_id + " starting");
  log(Level::info, "Queue URL: " + options.queue.url);
  log(Level::info, "S3 Bucket: " + options.bucket);
  log(Level::info, "Region: " + region);
  log(Level::info, "Model: " + options.model_name);
  log(Level::info, "Idle timeout: " + number_text(command.idle_timeout) + " minutes");
}

void log_end(const RunnerReport& report) {
  const auto& numbers = report.numbers;
  log(Level::info, "Total jobs processed: " + std::to_string(numbers.done) + " (" + std::to_string(numbers.elsewhere) +
                       " were done by others, " + std::to_string(numbers.failed) + " failed for good, " +
                       std::to_string(numbers.retried) + " are tried again, " + std::to_string(numbers.released) +
                       " were released)");
  if (!report.run.ended_early.empty()) log(Level::error, report.run.ended_early);
}

/// Takes the notice that a spot instance gets, two minutes before its end, for a SIGTERM. Elsewhere it does nothing.
class SpotWatch {
 public:
  explicit SpotWatch(const StopSignal& stop) : instance_(InstanceMetadata::open([&stop] { return !stop.raised(); })) {
    if (instance_) watching_ = std::make_unique<PeriodicThread>(kEvery, [this] { look(); });
  }

 private:
  static constexpr std::chrono::seconds kEvery{5};  // as AWS recommends

  void look() {
    if (noticed_) return;
    const auto notice = instance_->spot_notice();
    if (!notice) return;
    noticed_ = true;
    log(Level::warning, "spot notice: " + *notice + "; nothing new is begun");
    ::kill(::getpid(), SIGTERM);
  }

  std::optional<InstanceMetadata> instance_;
  bool noticed_ = false;  // the watching thread's
  std::unique_ptr<PeriodicThread> watching_{};
};

WorkerEnd work(RunnerOptions options, const WorkerCommand& command) {
  Interrupt interrupt(std::chrono::milliseconds(static_cast<std::int64_t>(command.drain_seconds * 1000)));
  auto cloud = open_cloud(command.cloud, options.queue, interrupt);
  if (!cloud) return {complain(cloud.error())};
  const auto identity = checked_identity(*cloud, interrupt);
  if (!identity) return {complain(identity.error(), interrupt)};
  log(Level::info, *identity);
  log_start(options, command, cloud->location.region);
  const RunnerAccess access{cloud->credentials, cloud->location};
  const auto queue = check_queue_and_bucket(options, access, interrupt);
  if (!queue) return {complain(queue.error(), interrupt)};
  const auto named = store_named(command.state, "");
  if (!named) return {complain(named.error())};
  const auto store = open_store({.url = named->store});
  if (!store) return {complain(store.error())};
  const SpotWatch spot(interrupt);
  std::unique_ptr<ControlSocket> socket;
  const auto run = [&] {
    return run_remote(options, access, *queue, **store, interrupt, [&](BatchControl* now) {
      socket.reset();
      if (now) socket = open_control_socket(*now);
    });
  };
  auto report = run();
  if (!report && falls_back_to_cpu(command, report.error(), options)) report = run();
  if (!report) return {complain(report.error(), interrupt)};
  log_end(*report);
  return {exit_code(report->run), report->numbers.over == RunnerTally::Over::idle};
}

/// That of --engine, which has a model by default as it sees fit.
Result<void> take_engine(OptionTable& table, WorkerCommand& command) {
  if (command.engine.empty()) return {};
  if (table.given_by("model") == SourceKind::standard) command.speech.model.clear();
  command.other = TRY(other_engine(command.engine, command.speech, command.sequential, table));
  return {};
}

/// Of a queue, or of a store.
WorkerEnd work(const WorkerCommand& command, const std::string& line) {
  if (!command.store.empty()) return work_on_store(command, line);
  const auto queue = queue_of(command.queue_url);
  if (!queue) return {complain(queue.error())};
  auto options = runner_options(command, *queue, line);
  if (!options) return {complain(options.error())};
  return work(std::move(*options), command);
}

}  // namespace

int run_worker(const std::vector<std::string>& arguments) {
  WorkerCommand command;
  OptionTable table(
      "worker",
      "Transcribe the jobs of an SQS queue, from S3 to S3, or those of a store on PostgreSQL. Any number of machines "
      "may do so at once, start and end at any time: each job is published once, and one whose worker is gone is done "
      "by another.");
  add_worker(table, command);
  table.examples(
      {"tutti worker --queue-url https://sqs.us-east-1.amazonaws.com/123456789012/jobs --s3-bucket talks "
       "--model large-v3",
       "tutti worker -q URL --s3-bucket talks --model tiny.en --cpu-only --idle-timeout 60 --on-idle 'sudo "
       "shutdown -h +1'",
       "tutti worker --store postgres://tutti@db/tutti --model medium --idle-timeout 10"});
  if (const auto code = start_command(table, arguments)) return *code;
  if (const auto valid = check_worker(table, command); !valid) return complain(valid.error());
  if (const auto taken = take_temporary_folder(command.temp_dir); !taken) return complain(taken.error());
  if (const auto logs = log_as_worker(command.log_dir); !logs) return complain(logs.error());
  if (!command.store.empty()) default_as_batch(table, command);
  if (const auto taken = take_engine(table, command); !taken) return complain(taken.error());
  const WorkerEnd end = work(command, command_line("tutti worker", arguments));
  if (end.is_idle) run_on_idle(command.on_idle);
  return end.exit_code;
}

}  // namespace tutti
