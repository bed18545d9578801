#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transcribe/events.h"
#include "transcribe/output_plan.h"

namespace tutti {

/// Events as JSON, one object a line on standard output, each with "event": skipped, at once for every file that is
/// done already; ready, decoded, segment, done, failed. Must not outlive `files`.
std::unique_ptr<RunObserver> make_json_events(const std::vector<PlannedFile>& files);

/// The line of a dry run for one file: planned with its outputs; skipped where it is done already; failed, an event as
/// a run's, where `problem` is not empty.
std::string planned_json(const PlannedFile& file, const std::string& problem);

}  // namespace tutti
