#pragma once

#include <vector>

#include "transcribe/output_plan.h"
#include "transcribe/run.h"

namespace tutti {

/// Prints on standard output what a run would read and write and, for people, what memory it would take; reads and
/// makes nothing. `json`: an event a line instead, `planned`, `skipped` or `failed`. Answers the exit code that the run
/// will have for what is known before it.
int dry_run(const std::vector<PlannedFile>& plan, const RunOptions& options, bool json);

}  // namespace tutti
