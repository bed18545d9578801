#pragma once

#include "base/error.h"
#include "cli/batch/batch_flags.h"
#include "cli/settings/option_table.h"
#include "link/other_engine.h"

namespace tutti {

/// The engine that --engine names, as it has reported itself, and what the given options request of its windows: an
/// option that is not given stays the engine's own. Starts it and ends it again. `table` has read `command`.
/// Fault::usage names the first option that it does not take, or that no engine of others does.
Result<OtherEngine> other_engine(const BatchCommand& command, OptionTable& table);

}  // namespace tutti
