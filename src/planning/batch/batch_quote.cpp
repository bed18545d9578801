#include "planning/batch/batch_quote.h"

#include <algorithm>

#include "base/log.h"
#include "planning/policy_table.h"
#include "view/text.h"

namespace tutti {
namespace {

/// Emulated GPUs need no model: what they hold is theirs to say.
Capacity capacity_on(const PlanTarget& target, const std::optional<ModelShape>& shape, const BatchOptions& options) {
  if (target.windows) return {.fits = *target.windows, .in_flight = *target.windows};
  if (!shape) return {.fits = kWindowsInFlight, .in_flight = kWindowsInFlight};
  return capacity(
      {.shape = *shape, .compute_type = options.run.compute_type, .beams = std::max(1, options.run.decoding.beams())},
      target);
}

}  // namespace

QuoteBasis quote_basis(const BatchOptions& options) {
  const bool whole = options.run.long_form.clip_timestamps == LongFormOptions{}.clip_timestamps;
  QuoteBasis basis{.foreseen = options.run.batched && whole && options.policy == "tutti"};
  basis.question.jobs_at_once = options.jobs_at_once;
  for (const auto& device : options.devices) {
    basis.question.targets.push_back(plan_target(device));
    basis.question.targets.back().job_cap = options.job_cap(device.id);
    if (const auto price = options.prices.find(device.id); price != options.prices.end())
      basis.question.targets.back().price = price->second;
  }
  auto& targets = basis.question.targets;
  const auto past = read_device_past(options.store());
  if (!past) log(Level::warning, "speeds of earlier batches are not known: " + past.error().text());
  const DevicePast known = past.value_or(DevicePast{});
  add_past(targets, known, {.model = options.run.model_name(), .compute_type = options.run.compute_type});
  basis.question.speech = speech_share(known.runs, options.run.model_name());
  basis.watts = watts_of(targets);
  const bool has_no_shape = options.run.model.empty() || options.run.engine;
  const auto shape = has_no_shape ? std::nullopt : model_shape(options.run.model);
  for (const auto& target : targets) basis.on.push_back(capacity_on(target, shape, options));
  return basis;
}

std::string BatchQuote::text() const {
  return "Expected: " + length_text(time.audio) + " of audio in " + length_text(time.expected) +
         "; four times out of five between " + length_text(time.least) + " and " + length_text(time.most) + ". " +
         silence_text(time.speech) +
         (unknown > 0 ? " Recordings whose length is not known come on top: " + std::to_string(unknown) : "");
}

std::optional<BatchQuote> QuoteBasis::quote(std::span<const Seconds> recordings) const {
  const bool all_known =
      std::ranges::all_of(question.targets, [](const auto& target) { return target.speed.has_value(); });
  if (!foreseen || !all_known || recordings.empty()) return {};
  QuoteQuestion question_now = question;
  for (const Seconds length : recordings) question_now.jobs.push_back({.audio = length, .believed = length});
  BatchQuote quote{.time = quote_time(question_now, on), .recordings = recordings.size()};
  quote.cost = cost_of(priced_times(question.targets, quote.time));
  if (watts) quote.energy_joules = *watts * quote.time.expected.count();
  return quote;
}

void StartQuote::expect(const BatchWork& work) {
  pending_ = std::async(std::launch::async, [this, work] {
    auto quote = basis_.quote(work.lengths);
    if (!quote) return quote;
    quote->unknown = work.unknown;
    log(Level::info, quote->text());
    return quote;
  });
}

std::optional<BatchQuote> StartQuote::of(const BatchReport& report) {
  const auto at_start = pending_.valid() ? pending_.get() : std::nullopt;
  const std::size_t transcribed = report.done_now - report.copied;
  if (!at_start || report.transcribed.size() < transcribed) return {};  // their lengths were not known at the start
  return at_start->recordings == transcribed ? at_start : basis_.quote(report.transcribed);
}

}  // namespace tutti
