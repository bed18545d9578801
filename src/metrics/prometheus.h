#pragma once

#include <span>
#include <string>

#include "metrics/metric.h"

namespace tutti {

/// The text format that Prometheus scrapes (version 0.0.4). Histograms become summaries with the quantiles 0.5, 0.9 and
/// 0.99 since the start. Expects metrics of one name side by side.
std::string prometheus_text(std::span<const MetricSnapshot> metrics);

}  // namespace tutti
