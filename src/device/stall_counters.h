#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/units.h"

namespace tutti {

/// What the kernel has counted so far of time that programs lost, on this machine or in the control groups around this
/// process. Two readings tell what a stretch of time lost. Absent is what the kernel does not report.
struct StallCounters {
  /// Processor time of all programs of this machine.
  std::optional<Seconds> busy{};
  /// The control group's threads were held back by its quota: of all processors together, so that two that are held
  /// back for a second count two. The most of all levels.
  std::optional<Seconds> throttled{};
  /// Some program had no processor though it could have run.
  std::optional<Seconds> cpu{};
  /// Some program waited for memory: pages were read back, or memory was freed first.
  std::optional<Seconds> memory{};
  /// In and out.
  std::optional<std::int64_t> swapped_pages{};
  /// A core was slowed down because it was hot; the most of all cores.
  std::optional<Seconds> hot{};
};

/// The counters now, below `root` ("/" but in tests).
StallCounters read_stall_counters(const std::filesystem::path& root);

}  // namespace tutti
