#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/log_owner.h"

namespace tutti {

/// Captures the lines that this thread logs while it exists, with their owners.
class LogLines {
 public:
  LogLines()
      : before_(set_log_sink([this](Level, std::string_view text) {
          texts.emplace_back(text);
          owners.push_back(log_owner());
        })) {}
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;
  ~LogLines() { set_log_sink(before_); }

  std::vector<std::string> texts{};
  std::vector<std::string> owners{};

 private:
  LogSink before_;
};

}  // namespace tutti
