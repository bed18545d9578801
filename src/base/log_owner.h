#pragma once

#include <string>

namespace tutti {

/// While it exists, what this thread logs belongs to `owner`, such as "Worker-3": a sink may show it as the line's
/// author. The innermost one counts.
class LogOwner {
 public:
  explicit LogOwner(std::string owner);
  LogOwner(const LogOwner&) = delete;
  LogOwner& operator=(const LogOwner&) = delete;
  ~LogOwner();

 private:
  std::string before_;
};

/// The owner of what this thread logs now; empty: it has none.
const std::string& log_owner();

}  // namespace tutti
