#pragma once

#include <optional>
#include <span>

#include "transcribe/batch/batch_options.h"
#include "transcribe/batch/batch_report.h"

namespace tutti {

/// The report of a run whose jobs are all done as requested, with every output in place: nothing is left to do, so no
/// device is needed. None: something is left, or the store cannot be read. First repairs what a killed run has left, as
/// every run does. Makes no store and adds nothing to it.
std::optional<BatchReport> report_if_all_done(std::span<const BatchJob> jobs, const BatchOptions& options);

}  // namespace tutti
