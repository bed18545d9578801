#include "cli/batch/batch_log.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "base/log_owner.h"
#include "base/time_text.h"
#include "transcribe/batch/batch_attempt.h"
#include "view/fleet/fleet_table.h"
#include "view/text.h"

namespace tutti {
namespace {

constexpr std::size_t kRuler = 80;  // columns

std::string thread_name() {
  if (!log_owner().empty()) return log_owner();
  return ::gettid() == ::getpid() ? "MainThread" : "Batch";
}

std::string attempts_text(int attempts) {
  return attempts > 1 ? ", attempt " + std::to_string(attempts) : "";
}

}  // namespace

const char* note_level(Level level) {
  switch (level) {
    case Level::info: return "INFO";
    case Level::warning: return "WARNING";
    case Level::error: return "ERROR";
  }
  return "INFO";
}

void log_as_the_note() {
  set_log_sink([](Level level, std::string_view text) {
    const std::string thread = thread_name();
    const std::string date = local_text(std::chrono::system_clock::now());
    std::fprintf(stderr, "%s - [%-10s] - %s - %.*s\n", date.c_str(), thread.c_str(), note_level(level),
                 static_cast<int>(text.size()), text.data());
  });
}

void BatchLog::on_start(const BatchStart& start) {
  const std::string worker = worker_name(start.worker);
  const LogOwner owner(worker);  // another thread may report it
  if (const auto status = status_(start.before)) log(Level::info, "GPU Balancer Status: " + fleet_line(*status));
  log(Level::info, std::string(kRuler, '='));
  log(Level::info, "[" + std::to_string(start.number) + "/" + std::to_string(start.total) +
                       "] Processing: " + start.name + attempts_text(start.attempt));
  if (!start.uuid.empty()) log(Level::info, "UUID: " + start.uuid);
  log(Level::info, "Thread: " + worker);
  log(Level::info, "Device: " + start.device);
}

void BatchLog::say_progress(const BatchCounts& counts) {
  log(Level::info, "Progress: " + std::to_string(counts.ended()) + "/" + std::to_string(counts.total) + " (ok " +
                       std::to_string(counts.done) + " | fail " + std::to_string(counts.failed) + ")");
}

void BatchLog::on_done(const BatchEnd& end, const BatchCounts& counts) {
  const LogOwner owner(worker_name(end.worker));
  std::string line = "Done: " + end.name;
  if (end.copied) line += " (the same recording as one before)";
  if (!end.device.empty()) line += ", " + end.device;
  // Only the devices' time counts: the wait for a free device is no measure of their speed.
  if (end.busy > Seconds(0) && !end.copied) line += ", " + short_number(end.audio / end.busy) + " x real time";
  log(Level::info, line + attempts_text(end.attempts));
  for (const KeptFile& kept : end.kept_files) log(Level::warning, kept_text(kept));
  say_progress(counts);
}

BatchObserver::Action BatchLog::on_failed(const BatchEnd& end, const Error& error, const BatchCounts& counts) {
  const LogOwner owner(worker_name(end.worker));
  log(Level::error, end.name + ": " + error.text());
  say_progress(counts);
  return prompt_ ? prompt_(end.name) : Action::go_on;
}

void BatchLog::on_retry(const BatchEnd& end, const std::string& reason, Seconds wait) {
  const LogOwner owner(worker_name(end.worker));
  log(Level::warning, end.name + ": " + reason + "; tried again in " + short_number(wait.count()) + " s");
}

}  // namespace tutti
