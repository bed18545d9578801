#include "cli/batch/batch_log.h"

#include <pthread.h>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <iostream>

#include "base/log.h"
#include "view/text.h"

namespace tutti {
namespace {

const char* note_level(Level level) {
  switch (level) {
    case Level::debug: return "DEBUG";
    case Level::info: return "INFO";
    case Level::warning: return "WARNING";
    case Level::error: return "ERROR";
  }
  return "INFO";
}

std::string attempts_text(int attempts) {
  return attempts > 1 ? ", attempt " + std::to_string(attempts) : "";
}

BatchObserver::Wish asked_about(const std::string& name) {
  for (std::string answer;;) {
    std::fprintf(stderr, "%s failed. [g]o on, [r]etry, [s]top? ", name.c_str());
    if (!std::getline(std::cin, answer) || answer == "g" || answer.empty()) return BatchObserver::Wish::go_on;
    if (answer == "r") return BatchObserver::Wish::retry;
    if (answer == "s") return BatchObserver::Wish::stop;
  }
}

}  // namespace

void log_as_the_note() {
  set_log_sink([](Level level, std::string_view text) {
    char thread[32] = {};
    ::pthread_getname_np(::pthread_self(), thread, sizeof thread);
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::localtime_r(&now, &parts);
    char date[32];
    std::strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &parts);
    std::fprintf(stderr, "%s - [%-10s] - %s - %.*s\n", date, thread, note_level(level), static_cast<int>(text.size()),
                 text.data());
  });
}

std::string note_line(const FleetStatus& status) {
  std::string line;
  for (std::size_t i = 0; i < status.devices.size(); ++i) {
    const DeviceStatus& device = status.devices[i];
    line += (i == 0 ? "GPU " : " | GPU ") + std::to_string(i) + ": " + std::to_string(device.tasks);
    if (device.most_tasks) line += "/" + std::to_string(*device.most_tasks);
    line += " tasks";
    if (device.own_load)
      line += ", " + std::to_string(std::lround(100 * (*device.own_load + device.foreign_load.value_or(0)))) + "% util";
    if (device.id == status.next_device) line += " <- next";
  }
  return line;
}

void BatchLog::on_start(const BatchStart& start) {
  if (const auto status = status_()) log(Level::info, "GPU Balancer Status: " + note_line(*status));
  std::string line =
      "[" + std::to_string(start.number) + "/" + std::to_string(start.total) + "] Processing: " + start.name;
  line += attempts_text(start.attempt);
  if (!start.next_device.empty()) line += " (next device: " + start.next_device + ")";
  log(Level::info, line);
  if (!start.uuid.empty()) log(Level::info, "UUID: " + start.uuid);
}

void BatchLog::say_progress(const BatchCounts& counts) {
  log(Level::info, "Progress: " + std::to_string(counts.ended()) + "/" + std::to_string(counts.total) + " (ok " +
                       std::to_string(counts.done) + " | fail " + std::to_string(counts.failed) + ")");
}

void BatchLog::on_done(const BatchEnd& end, const BatchCounts& counts) {
  std::string line = "Done: " + end.name;
  if (end.copied) line += " (the same recording as one before)";
  if (!end.device.empty()) line += ", " + end.device;
  if (end.elapsed > Seconds(0) && !end.copied) line += ", " + short_number(end.audio / end.elapsed) + " x real time";
  log(Level::info, line + attempts_text(end.attempts));
  say_progress(counts);
}

BatchObserver::Wish BatchLog::on_failed(const BatchEnd& end, const Error& error, const BatchCounts& counts) {
  log(Level::error, end.name + ": " + error.text());
  say_progress(counts);
  Wish wish = Wish::go_on;
  if (ask_) aside_([&] { wish = asked_about(end.name); });
  return wish;
}

void BatchLog::on_retry(const BatchEnd& end, const std::string& reason, Seconds wait) {
  log(Level::warning, end.name + ": " + reason + "; tried again in " + short_number(wait.count()) + " s");
}

}  // namespace tutti
