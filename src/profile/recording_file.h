#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "advise/recording.h"
#include "base/error.h"
#include "flow/report.h"

namespace tutti {

/// Where the recording of this run is requested (metrics/recording_request.h); none: the run is not profiled, and
/// recording costs nothing.
std::optional<std::filesystem::path> recording_wanted();

/// Takes over what the clocks of a stage of `flow` found: its times and the length of the queue behind it.
void note_clocks(RecordedStage& stage, const StageReport& report);

/// Cores that this process may use: those of its affinity and of its control group's quota, one at least.
int usable_cores();

/// Writes the recording whole, as one JSON object: command, unit, cores, elapsed and held_up (seconds), and stages with
/// name, resource, threads, queue, threads_flag, queue_flag, busy, starved, blocked, on_core, core_wait, on_processor
/// and items (seconds); the items' lengths, what was before it had settled, and the timeline, where there are some. A
/// later reading gives the same recording.
Result<void> write_recording(const RunRecording& recording, const std::filesystem::path& file);

/// As an object: load, preprocess, transfer, training and total, each with mean, std, min, max, p50, p95 (seconds) and
/// share.
nlohmann::ordered_json phases_json(const StepPhases& phases);

/// Fault::missing where there is no such file, or a stage has no item: nothing was measured. Fault::corrupt where the
/// file holds something else.
Result<RunRecording> read_recording(const std::filesystem::path& file);

}  // namespace tutti
