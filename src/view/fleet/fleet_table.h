#pragma once

#include <string>
#include <vector>

#include "view/fleet/fleet_status.h"
#include "view/terminal_text.h"

namespace tutti {

/// The live table of a run: devices, total progress with audio hours per hour and the time left with its error band,
/// failures. Every line exactly `columns` wide, at most `lines` of them; what does not fit is counted in the last line
/// of its part. Pure.
std::vector<std::string> render_fleet(const FleetStatus& status, const Screen& screen);

}  // namespace tutti
