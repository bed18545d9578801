#pragma once

#include <optional>

#include "transcribe/batch/batch_report.h"
#include "view/fleet/run_report.h"

namespace tutti {

/// The numbers of a batch's end that the report in words is made of. `price`: of a device hour.
RunNumbers run_numbers(const BatchReport& report, bool shared_files, std::optional<double> price);

}  // namespace tutti
