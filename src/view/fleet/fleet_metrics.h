#pragma once

#include <vector>

#include "metrics/prometheus.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// Running batches for Prometheus, labelled by `run`: jobs by state, audio done, the share of each device's time that
/// it was busy, and tutti_run_limit_info, whose label `finding` says what limits the run. What is not known is left
/// out. Metrics of one name are side by side.
std::vector<MetricSnapshot> fleet_metrics(const std::vector<FleetStatus>& runs);

}  // namespace tutti
