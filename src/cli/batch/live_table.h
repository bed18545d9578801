#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "view/fleet/fleet_status.h"

namespace tutti {

/// The table of a running batch at the bottom of standard error's terminal, painted anew five times a second while it
/// lives; log lines go above it. A thread of its own.
class LiveTable {
 public:
  virtual ~LiveTable() = default;
  /// Takes the table away while `during` uses the terminal (a question), and paints it again.
  virtual void aside(const std::function<void()>& during) = 0;
};

/// `status`: none while there is nothing to show yet. Takes over the log's sink as it is now, and gives it back.
std::unique_ptr<LiveTable> make_live_table(std::function<std::optional<FleetStatus>()> status);

}  // namespace tutti
