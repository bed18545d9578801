#pragma once

#include <optional>
#include <string>

#include "cli/batch/batch_log.h"
#include "cli/batch/live_table.h"
#include "transcribe/stop_signal.h"

namespace tutti {

/// The action that a typed line selects: g, r, s or the whole word, in any case; Enter alone is to go on. None: the
/// line is not clear.
std::optional<BatchObserver::Action> parse_action(const std::string& answer);

/// Prompts on the terminal, below the table's log, for what shall be done about a recording that failed, and again
/// until the answer is clear. There is no prompt any more once an answer was to stop, the run is interrupted, or the
/// terminal's input has ended; nor while the run is in the background, where a question would halt it. Then the answer
/// is to go on, and to stop where the run is interrupted. `table` and `stop` outlive it; one call at a time.
BatchLog::FailurePrompt failure_question(LiveTable& table, const StopSignal& stop);

}  // namespace tutti
