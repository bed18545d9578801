#pragma once

#include "advise/lost_time.h"
#include "device/list/device_list.h"
#include "transcribe/pool/pool_view.h"
#include "view/fleet/fleet_status.h"

namespace tutti {

/// What the pool knows of a device `elapsed` after its start; the machine adds the rest (PoolMachine::describe).
DeviceStatus device_status(const PooledDeviceView& device, const ChosenDevice& chosen, Seconds elapsed);

/// How a device has spent the time of a run so far. Speeds are what it did while it was busy, not what the speed model
/// believes: a report is about facts.
DeviceTime device_time(const PooledDeviceView& device);

}  // namespace tutti
