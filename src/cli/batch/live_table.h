#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "base/log.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// The table of a run's devices at the bottom of the terminal, twice a second, with log lines above it, by a thread of
/// its own. The terminal is given back when it goes.
class LiveTable {
 public:
  using Status = std::function<std::optional<FleetStatus>()>;

  explicit LiveTable(Status status);
  ~LiveTable();
  LiveTable(const LiveTable&) = delete;
  LiveTable& operator=(const LiveTable&) = delete;

  /// Calls `fn` with the terminal to itself; lines that are logged meanwhile appear afterwards.
  void alone(const std::function<void()>& fn);

 private:
  struct Board;
  void refresh(const std::stop_token& over);

  Status status_;
  std::unique_ptr<Board> board_;
  LogSink before_;
  std::jthread refresher_;
};

}  // namespace tutti
