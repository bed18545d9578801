#pragma once

#include <filesystem>
#include <optional>

#include "advise/recording.h"
#include "base/error.h"
#include "flow/report.h"

namespace tutti {

/// Where `tutti profile` wants the recording of this run, by the variable TUTTI_RECORDING; none: the run is not profiled.
/// Recording costs nothing then.
std::optional<std::filesystem::path> recording_wanted();

/// The variable, for who starts a command and wants its recording.
inline constexpr const char* kRecordingVariable = "TUTTI_RECORDING";

/// Takes over what the clocks of a stage of `flow` found: its times and the length of the queue behind it.
void note_clocks(RecordedStage& stage, const StageReport& report);

/// Cores that this process may use: those of its affinity and of its control group's quota, one at least.
int usable_cores();

/// Writes the recording whole, as one JSON object.
Result<void> write_recording(const RunRecording& recording, const std::filesystem::path& file);

/// Fault::missing where there is none, or it has no item: nothing was measured. Fault::corrupt where it is none.
Result<RunRecording> read_recording(const std::filesystem::path& file);

}  // namespace tutti
