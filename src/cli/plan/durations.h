#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tutti {

/// Lengths of recordings in seconds, from JSON: a list of numbers; {"durations_s": [...]}; or the note's manifest,
/// {"assets": [{"media_duration_seconds": …}]}, of whose assets those count that are audio. `name` is the file's, for
/// errors. Fault::corrupt names the entry that is not a length.
Result<std::vector<double>> read_durations(std::string_view json, const std::string& name);

}  // namespace tutti
