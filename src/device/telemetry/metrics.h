#pragma once

#include <vector>

#include "device/telemetry/machine_snapshot.h"
#include "metrics/prometheus.h"

namespace tutti {

/// The snapshot as metrics for prometheus_text(): base units, ratios from 0 to 1, every GPU's series labelled with its
/// UUID. What is absent in the snapshot has no series.
std::vector<MetricSnapshot> snapshot_metrics(const MachineSnapshot& snapshot);

}  // namespace tutti
