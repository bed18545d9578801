#include "base/log.h"

#include <cstdio>
#include <string>
#include <utility>

#include "base/guarded.h"

namespace tutti {
namespace {

void print_line(Level level, std::string_view text) {
  std::string line = "tutti: ";
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
  const LogSink write = sink().with([](const LogSink& current) { return current; });
  write(level, text);
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
