#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tutti {

enum class Level { info, warning, error };

/// Writes one line, with a space for every control character. The default sink prints "tutti: warning: text" to
/// standard error; a progress display or a worker replaces it so that lines and bars do not tear each other.
/// Thread-safe.
void log(Level level, std::string_view text);

/// Logs nothing below `least` from now on, whatever the sink: the effect of -q. Called at start-up.
void log_from(Level least);

/// A line that another process of ours wrote to standard error, without the prefix that the default sink gave it. Any
/// other line is Level::info, and whole.
struct LoggedLine {
  Level level = Level::info;
  std::string_view text{};
};
LoggedLine read_log_line(std::string_view line);

using LogSink = std::function<void(Level, std::string_view)>;

/// Replaces the sink and returns the one before. Called at start-up, by the owner of the terminal.
LogSink set_log_sink(LogSink sink);

std::string_view name_of(Level level);

}  // namespace tutti
