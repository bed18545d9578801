#pragma once

#include <optional>
#include <string>

#include "planning/batch/batch_quote.h"
#include "transcribe/batch/batch_report.h"
#include "transcribe/inputs/inputs.h"

namespace tutti {

/// The report of a batch as JSON: totals, devices with their busy share and why they were idle, every recording.
/// `prices`: of an hour of each device, by its id. `quote`: what was expected of what it transcribed. `inputs`: what
/// was left out.
std::string batch_report_json(const BatchReport& report, const HourlyPrices& prices,
                              const std::optional<BatchQuote>& quote, const InputTally& inputs = {});

/// The closing lines for people.
std::string batch_report_text(const BatchReport& report, const HourlyPrices& prices,
                              const std::optional<BatchQuote>& quote);

}  // namespace tutti
