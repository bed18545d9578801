#pragma once

#include <memory>
#include <vector>

#include "transcribe/events.h"
#include "transcribe/output_plan.h"

namespace tutti {

/// One bar per file in work and a total line at the bottom of the terminal, refreshed five times a second by a thread
/// of its own; log lines appear above. The terminal is given back when the observer goes.
std::unique_ptr<RunObserver> make_live_display(const std::vector<PlannedFile>& files);

}  // namespace tutti
