#pragma once

#include "transcribe/pool/pool_view.h"
#include "view/fleet/run_report.h"

namespace tutti {

/// How a device has spent the time of a run so far. Speeds are what it did while it was busy, not what the speed model
/// believes: a report is about facts.
DeviceTime device_time(const PooledDeviceView& device);

}  // namespace tutti
