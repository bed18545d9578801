#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tutti {

/// Answers those who ask a running batch: a Unix socket in the runtime folder, one line of JSON asked and one answered
/// per connection, only to the same user. A thread of its own; somebody who asks and does not read costs it half a
/// second. The socket's file is gone with the server; what a killed one leaves behind is removed by whoever finds it
/// dead.
class ControlServer {
 public:
  /// `answer` is called on the server's thread.
  using Answer = std::function<std::string(std::string_view line)>;
  static Result<std::unique_ptr<ControlServer>> start(Answer answer);

  virtual ~ControlServer() = default;
  virtual const std::filesystem::path& path() const = 0;
};

/// Asks the batch behind `socket` and waits a second for its answer. Fault::missing when nobody is there.
Result<std::string> ask_control(const std::filesystem::path& socket, std::string_view line);

}  // namespace tutti
