#pragma once

#include <cstdint>
#include <span>
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

/// The text format that Prometheus scrapes (version 0.0.4). Histograms become summaries with the quantiles 0.5, 0.9 and
/// 0.99 since the start. Expects metrics of one name side by side.
std::string prometheus_text(std::span<const MetricSnapshot> metrics);

}  // namespace tutti
