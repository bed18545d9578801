#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/guarded.h"
#include "base/log.h"

namespace tutti {

/// Captures the log's lines while it exists, so that a test can wait for one.
class LogCapture {
 public:
  struct Line {
    std::chrono::steady_clock::time_point at;
    std::string text;
    Level level;
  };

  LogCapture()
      : before_(set_log_sink([this](Level level, std::string_view text) {
          lines_.change([&](auto& lines) {
            lines.push_back({std::chrono::steady_clock::now(), std::string(text), level});
          });
        })) {}
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;
  ~LogCapture() { set_log_sink(before_); }

  /// The `number`-th line (from 1) that contains `part`; waits for it.
  Line wait_for(const std::string& part, int number = 1) {
    const auto search = [&](const std::vector<Line>& lines) {
      int seen = 0;
      return std::find_if(lines.begin(), lines.end(), [&](const Line& line) {
        return line.text.find(part) != std::string::npos && ++seen == number;
      });
    };
    return lines_.wait([&](const auto& lines) { return search(lines) != lines.end(); },
                       [&](const auto& lines) { return *search(lines); });
  }

  /// Lines so far that contain `part`.
  int count(const std::string& part) const {
    return lines_.with([&](const std::vector<Line>& lines) {
      return static_cast<int>(std::count_if(
          lines.begin(), lines.end(), [&](const Line& line) { return line.text.find(part) != std::string::npos; }));
    });
  }

  /// The number at the end of a line that contains `part`: a process id.
  int number_after(const std::string& part) {
    const std::string text = wait_for(part).text;
    return std::atoi(text.c_str() + text.rfind(' ') + 1);
  }

 private:
  Guarded<std::vector<Line>> lines_;
  LogSink before_;
};

}  // namespace tutti
