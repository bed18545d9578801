#pragma once

#include "base/error.h"
#include "cli/transcribe_command.h"
#include "link/other_engine.h"
#include "settings/option_table.h"

namespace tutti {

/// The engine that --engine names by its `command`, as it has reported itself, and what the given options request of
/// its windows: an option that is not given stays the engine's own. Starts it and ends it again. `table` has read
/// `speech` and `sequential`. Fault::usage names the first option that it does not take, or that no engine of others
/// does.
Result<OtherEngine> other_engine(const std::string& command, const TranscribeCommand& speech, bool sequential,
                                 OptionTable& table);

}  // namespace tutti
