#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "metrics/histogram.h"

namespace tutti {

using Labels = std::vector<std::pair<std::string, std::string>>;

/// What distinguishes metrics: {.name = "tutti_windows_total", .labels = {{"device", uuid}}}.
struct MetricId {
  std::string name;  ///< A-Z, a-z, digits, _ and :, as Prometheus has it
  Labels labels{};   ///< in any order

  auto operator<=>(const MetricId&) const = default;
};

/// One metric at one moment: a counter's count, a gauge's value or a histogram.
struct MetricSnapshot {
  MetricId id;
  std::string help;
  std::variant<std::uint64_t, double, HistogramSnapshot> value;
};

}  // namespace tutti
