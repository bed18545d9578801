#include "base/log.h"

#include <atomic>
#include <cstdio>
#include <string>
#include <utility>

#include "base/guarded.h"
#include "base/strings.h"

namespace tutti {
namespace {

constexpr std::string_view kPrefix = "tutti: ";

std::atomic<Level> least_level = Level::info;

void print_line(Level level, std::string_view text) {
  std::string line(kPrefix);
  if (level != Level::info) line.append(name_of(level)).append(": ");
  line.append(text).push_back('\n');
  // One write, so that lines of several processes on one terminal stay whole.
  std::fwrite(line.data(), 1, line.size(), stderr);
}

Guarded<LogSink>& sink() {
  static Guarded<LogSink> current{LogSink(print_line)};
  return current;
}

}  // namespace

void log(Level level, std::string_view text) {
  if (level < least_level) return;
  const LogSink write = sink().with([](const LogSink& current) { return current; });
  write(level, without_controls(text));
}

void log_from(Level least) {
  least_level = least;
}

LoggedLine read_log_line(std::string_view line) {
  if (!line.starts_with(kPrefix)) return {.text = line};
  line.remove_prefix(kPrefix.size());
  for (const Level level : {Level::warning, Level::error})
    if (const std::string mark = std::string(name_of(level)) + ": "; line.starts_with(mark))
      return {.level = level, .text = line.substr(mark.size())};
  return {.text = line};
}

LogSink set_log_sink(LogSink next) {
  return sink().with([&](LogSink& current) { return std::exchange(current, std::move(next)); });
}

std::string_view name_of(Level level) {
  switch (level) {
    case Level::info: return "info";
    case Level::warning: return "warning";
    case Level::error: return "error";
  }
  return "unknown";
}

}  // namespace tutti
