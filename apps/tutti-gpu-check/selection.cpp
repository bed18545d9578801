#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "checks.h"
#include "decode/verified_token_selector.h"

namespace tutti {
namespace {

constexpr std::int64_t kVocabulary = 51866;             // vocabulary of large-v3
constexpr std::int32_t kSequences[] = {1, 8, 32, 160};  // the last: 32 searches with five beams
constexpr double kTolerance = 1e-4;                     // tolerance on a log-probability
const DecodingTokens kTokens{
    .eot = 50257, .timestamp_begin = 50365, .no_timestamps = 50364, .no_speech = 50363, .blank = {220}};

/// Nothing decoded yet; text behind a time; a pair half open and closed.
std::vector<std::int32_t> history(std::size_t number) {
  std::vector<std::int32_t> past{50370, 100, 200, 50400, 50400};
  past.resize(number % (past.size() + 1));
  return past;
}

/// Greedy ones and beams of one search each; with `draws` also samples. One draw makes torch's operators select for the
/// whole step, so steps without any are what the kernel selects for.
std::vector<Sequence> sequences(std::size_t count, bool draws) {
  std::vector<Sequence> live;
  for (std::size_t i = 0; i < count; ++i) {
    auto job = std::make_shared<RequestProgress>();
    job->job = {.prompt = {50258}, .decoding = {.seed = i}};
    if (draws && i % 3 == 1) job->job.temperature = 0.4F;
    if (i % 3 == 2) job->job.decoding.beam_size = 5;
    const auto past = history(i);
    live.push_back({.of = job, .sample = {.tokens = past, .steps = static_cast<std::int32_t>(past.size())}});
  }
  return live;
}

/// How far two selections are apart; infinity where they name different tokens.
double distance(const Selection& found, const Selection& wanted) {
  const bool same =
      found.choice.token == wanted.choice.token &&
      found.no_speech_prob.has_value() == wanted.no_speech_prob.has_value() &&
      std::ranges::equal(found.continuations, wanted.continuations, {}, &Continuation::token, &Continuation::token);
  if (!same) return std::numeric_limits<double>::infinity();
  const double no_speech = found.no_speech_prob.value_or(0) - wanted.no_speech_prob.value_or(0);
  double worst = farther(std::abs(found.choice.logprob - wanted.choice.logprob), std::abs(no_speech));
  for (std::size_t i = 0; i < found.continuations.size(); ++i) {
    const double apart = found.continuations[i].sum_logprob - wanted.continuations[i].sum_logprob;
    worst = farther(worst, std::abs(apart));
  }
  return worst;
}

void check_step(Report& report, at::Device device, std::size_t count, bool draws, Seconds least) {
  const auto live = sequences(count, draws);
  auto logits = at::randn({static_cast<std::int64_t>(count), kVocabulary}).mul_(3);
  logits[0][*kTokens.no_speech].fill_(15);  // about as likely as all the rest
  logits = logits.to(device);
  std::vector<std::int64_t> newest(count), at_sot(count, -1);
  std::iota(newest.begin(), newest.end(), 0);
  at_sot.front() = 0;  // it enters
  const StepRows step{logits, newest, at_sot};
  DeviceTokenSelector there;
  const auto found = there.select_tokens(step, live, kTokens), wanted = select_on_host(step, live, kTokens);
  double worst = 0;
  bool within = true;
  for (std::size_t i = 0; i < count; ++i) {
    const double apart = distance(found[i], wanted[i]);
    within = within && apart <= kTolerance;  // what is no number is not
    worst = farther(worst, apart);
  }
  const auto what = "steps of " + std::to_string(count) + (draws ? " with draws" : "");
  report.add({.check = "selection",
              .what = what + ", there against the host",
              .value = worst,
              .unit = "of a log-probability",
              .passed = within});
  const auto add = [&](const char* where, double rate) {
    report.add({.check = "selection", .what = what + where, .value = rate, .unit = "steps/s"});
  };
  add(", selected there", rate_of(least, [&] { there.select_tokens(step, live, kTokens); }));
  add(", selected by one thread of the host", rate_of(least, [&] { select_on_host(step, live, kTokens); }));
}

}  // namespace

StepSelection::StepSelection(std::size_t rows, std::int32_t beams) : rows_(rows), no_sot_(rows, -1) {
  std::iota(rows_.begin(), rows_.end(), 0);
  const auto job = std::make_shared<RequestProgress>();
  job->job.decoding.beam_size = beams;
  for (std::size_t i = 0; i < rows; ++i) live_.push_back({.of = job, .sample = {.tokens = {50370, 100}, .steps = 2}});
}

void StepSelection::select_tokens(const at::Tensor& logits) {
  selector_.select_tokens({logits, rows_, no_sot_}, live_, kTokens);
}

void check_selection(Report& report, at::Device device, const CheckOptions& options) {
  const c10::InferenceMode no_autograd;
  at::manual_seed(20251123);
  std::vector<std::int32_t> counts(options.slots);
  for (const auto slots : options.slots) {
    if (options.beams > 0) counts.push_back(slots * options.beams);
  }
  if (counts.empty()) counts.assign(std::begin(kSequences), std::end(kSequences));
  for (const auto count : counts)
    for (const bool draws : {false, true})
      if (!draws || count > 1)
        check_step(report, device, static_cast<std::size_t>(count), draws, options.seconds.value_or(Seconds(0.2)));
}

}  // namespace tutti
