#pragma once

#include <optional>
#include <string>

#include "cli/batch/batch_quote.h"
#include "transcribe/batch/batch_report.h"

namespace tutti {

/// The report of a batch as JSON: totals, devices with their busy share and why they were idle, every recording.
/// `price`: of an hour of a device. `quote`: what was expected of what it transcribed.
std::string batch_report_json(const BatchReport& report, std::optional<double> price,
                              const std::optional<BatchQuote>& quote);

/// The closing lines for people.
std::string batch_report_text(const BatchReport& report, std::optional<double> price,
                              const std::optional<BatchQuote>& quote);

}  // namespace tutti
