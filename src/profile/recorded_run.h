#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/recording.h"

namespace tutti {

/// The flags that make a change, as typed behind the command: "--decode-threads 4". Empty: no flag of the command
/// does. Only threads have flags.
std::vector<std::string> flags_of(const RunRecording& recording, const Change& change);

/// The change that `text` names ("decode.threads=4", or with the command in front, "features.decode.threads=4"). The
/// command's name alone names its stage of that name. Fault::usage where the run has no such stage or setting, or
/// where no flag sets it.
Result<Change> parse_flag_change(const std::string& text, const RunRecording& recording);

/// What the profile of a command prints for people: a table of the stages, then what limits the run, then the changes
/// that gain, as flags to copy. Shares are of the threads' time; avg, p50, p95, min and max are milliseconds an item;
/// share is the stage's part of all working time.
std::string profile_text(const RunRecording& recording, const std::optional<Diagnosis>& found);

/// The same as one JSON object, without a line end: keys as those of a described run, and command, unit, items,
/// elapsed, of each stage std_ms, p50_ms, min_ms, max_ms and stalls (items of more than ten times the median), of each
/// fix its flags.
std::string profile_json(const RunRecording& recording, const std::optional<Diagnosis>& found);

/// One sentence with its full stop: what limited the run, and what one change would gain; or that this is not known,
/// because the replay does not explain the run.
std::string finding_sentence(const RunRecording& recording, const std::optional<Diagnosis>& found);

}  // namespace tutti
