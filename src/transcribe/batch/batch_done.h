#pragma once

#include <optional>
#include <span>

#include "transcribe/batch/batch_options.h"
#include "transcribe/batch/batch_report.h"

namespace tutti {

/// What a run would report that finds every task done, in the way it is asked for, and every output in place: nothing
/// was left to do, so no device is needed. None: something is left, or the store does not tell. Mends first what a
/// killed run has left, as every run does; makes no store and adds nothing to it.
std::optional<BatchReport> report_if_all_done(std::span<const BatchJob> jobs, const BatchOptions& options);

}  // namespace tutti
