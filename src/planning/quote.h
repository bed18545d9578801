#pragma once

#include <optional>
#include <string>
#include <vector>

#include "balance/simulator.h"
#include "planning/capacity.h"
#include "planning/plan_devices.h"

namespace tutti {

struct QuoteQuestion {
  std::string model{};
  std::string compute_type{};
  std::int32_t beams = 1;
  Bytes ram{};
  int cores = 1;  ///< cores of the machine that decodes for them
  std::vector<PlanTarget> targets{};
  std::vector<SimJob> jobs{};         ///< none: only what fits
  std::optional<double> speech{};     ///< speech share of their audio, as in earlier batches; none: unknown, all counts
  int jobs_at_once = 0;               ///< at most, on all devices together; 0: no bound
  std::vector<std::string> inputs{};  ///< words that name them to 'tutti batch', as a shell takes them; none: no names
  std::string devices{};              ///< all targets, as --devices takes them; empty: by their ids
  std::size_t unknown_lengths = 0;    ///< recordings that are not among the jobs
  std::uint64_t seed = 0;
};

/// How long a batch will take: in four of five cases between `least` and `most`.
struct TimeQuote {
  Seconds expected{};
  Seconds least{};
  Seconds most{};
  Seconds lower_bound{};
  Seconds audio{};                 ///< length of the recordings, silence included
  std::optional<double> speech{};  ///< speech share of `audio`, as in QuoteQuestion
  std::vector<Seconds> busy{};     ///< of `expected`, by target; 0 of those that the model does not fit on
};

/// What fits on which device, what to type, and how long it takes where all speeds are known.
struct Quote {
  struct Row {
    std::string model{};
    std::vector<Capacity> on{};  ///< by device
    HostNeed host{};
  };
  QuoteQuestion question{};
  std::vector<Row> rows{};              ///< OpenAI's sizes
  Row chosen{};                         ///< the requested model
  std::vector<std::string> problems{};  ///< a sentence each
  std::string command{};                ///< recommended; empty: it fits nowhere
  std::optional<TimeQuote> time{};
  // For the devices that the model fits on; none where no time is known.
  std::optional<DeviceCost> cost{};       ///< none: one has no price
  std::optional<double> price{};          ///< an hour of each, where all cost the same
  std::optional<double> energy_joules{};  ///< from what they drew in earlier batches; none: not known of all

  std::string json() const;
  std::string text() const;
};

/// Fault::usage for a model whose shape is not known.
Result<Quote> make_quote(QuoteQuestion question);

/// Runs the batch over simulated time, on devices that stay well, then draws speeds that are off. Every target has a
/// speed.
TimeQuote quote_time(const QuoteQuestion& question, const std::vector<Capacity>& on);

/// What each of these devices costs over that time.
std::vector<PricedTime> priced_times(const std::vector<PlanTarget>& targets, const TimeQuote& time);

}  // namespace tutti
