#pragma once

#include <memory>
#include <vector>

#include "transcribe/events.h"
#include "transcribe/output_plan.h"

namespace tutti {

/// Events as JSON, one object a line on standard output, each with "event": ready, decoded, segment, done, failed.
std::unique_ptr<RunObserver> make_json_events(const std::vector<PlannedFile>& files);

}  // namespace tutti
