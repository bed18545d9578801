#pragma once

#include <filesystem>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "planning/quote.h"
#include "transcribe/batch/batch_observer.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/batch/batch_report.h"

namespace tutti {

/// The quote of `tutti plan` for a batch, made when it begins.
struct BatchQuote {
  TimeQuote time{};
  std::size_t recordings = 0;  // that it counts
  std::size_t unknown = 0;     // that it does not, because their length is not known
  std::optional<DeviceCost> cost{};
  std::optional<double> energy_joules{};  // from what the same devices drew in earlier runs; none: not known of all

  /// "Expected: 26:12:01 of audio in 42:10; four times out of five between 40:03 and 44:20." and what it supposes.
  std::string text() const;
};

/// What a batch's time is quoted from: its devices with their speeds, looked up before the batch changes the store.
struct QuoteBasis {
  QuoteQuestion question{};
  std::vector<Capacity> on{};
  std::optional<double> watts{};  // power of all devices together
  bool foreseen = true;  // whole recordings, windows that spread, Tutti's own policy: what the simulator answers for

  /// Takes a second or two of a core for a long list. None where a device's speed is not known, or where files stay
  /// whole or another policy decides.
  std::optional<BatchQuote> quote(std::span<const Seconds> recordings) const;
};

/// Reads what earlier batches left in the store; where that cannot be read, a warning, and their speeds are not known.
QuoteBasis quote_basis(const BatchOptions& options);

/// What was expected of a batch, found out beside it: for a long list that takes a second or two, and the batch does
/// not wait.
class StartQuote {
 public:
  explicit StartQuote(QuoteBasis basis) : basis_(std::move(basis)) {}

  /// Shows what is expected of this work, as far as its lengths are known.
  void expect(const BatchWork& work);
  /// The quote for what an ended batch has transcribed, as it was known at its start. Recordings that turned out to be
  /// copied, failed or were cancelled took no device the time that was expected of them. None: nothing was expected,
  /// nothing was transcribed, or the length of some of it was not known.
  std::optional<BatchQuote> of(const BatchReport& report);

 private:
  const QuoteBasis basis_;
  std::future<std::optional<BatchQuote>> pending_{};
};

}  // namespace tutti
