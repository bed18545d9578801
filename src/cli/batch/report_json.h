#pragma once

#include <optional>
#include <string>

#include "transcribe/batch/batch_report.h"

namespace tutti {

/// The report of a batch as JSON: totals, devices with their busy share and why they were idle, every recording.
/// `price`: of an hour of a device.
std::string batch_report_json(const BatchReport& report, std::optional<double> price);

/// The closing lines for people.
std::string batch_report_text(const BatchReport& report, std::optional<double> price);

}  // namespace tutti
