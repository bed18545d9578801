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

/// The field note's one-line form: "GPU 0: 3/5 tasks, 45% util | GPU 1: 2/5 tasks, 32% util -> next: GPU 1".
std::string fleet_line(const FleetStatus& status);

}  // namespace tutti
