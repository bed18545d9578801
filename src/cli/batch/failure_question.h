#pragma once

#include <optional>
#include <string>

#include "cli/batch/batch_log.h"
#include "cli/batch/live_table.h"
#include "transcribe/interrupt.h"

namespace tutti {

/// What somebody means who types this, and Enter: g, r, s or the whole word, in any case; Enter alone is to go on.
/// None: it cannot be told.
std::optional<BatchObserver::Action> parse_action(const std::string& answer);

/// Asks on the terminal, below the table's log, what shall be done about a recording that failed, and again until the
/// answer can be meant. Nobody is asked any more once somebody has wished to stop, the run is interrupted, or the
/// terminal's input has ended; nor while the run is in the background, where a question would halt it. Then the answer
/// is to go on, and of an interrupted run to stop. `table` and `interrupt` outlive it; one call at a time.
BatchLog::FailurePrompt failure_question(LiveTable& table, const Interrupt& interrupt);

}  // namespace tutti
