#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "cli/plan/plan_devices.h"
#include "cli/plan/quote.h"
#include "transcribe/batch/batch_options.h"

namespace tutti {

/// What `tutti plan` would say of a batch, asked when it begins.
struct BatchQuote {
  TimeQuote time{};
  std::optional<double> cost{};
  std::optional<double> energy_joules{};  // from what the same devices drew in earlier runs; none: not known of all

  /// "Expected: 26:12:01 of audio in 42:10; four times out of five between 40:03 and 44:20".
  std::string text() const;
};

/// What a batch's time is quoted from: its devices with their speeds, looked up before the batch changes the store.
struct QuoteBasis {
  QuoteQuestion question{};
  std::vector<Capacity> on{};
  std::optional<double> watts{};  // of all devices together
  std::optional<double> price{};  // of a device hour

  bool foreseen = true;  // windows that spread, by Tutti's own policy: what the simulator answers for

  /// Takes a second or two of a core for a long list. None where a device's speed is not known, or where files stay
  /// whole or another policy decides.
  std::optional<BatchQuote> quote(std::span<const Seconds> recordings) const;
};

QuoteBasis quote_basis(const BatchOptions& options);

}  // namespace tutti
