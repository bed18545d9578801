#include "decode/verified_token_selector.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/log.h"
#include "decode/to_host.h"

namespace tutti {
namespace {

constexpr double kTolerance = 1e-3;  // tolerance on a log-probability

/// A bit for every kind of step that is selected in a way of its own.
int kind_of(const StepRows& step, std::span<const Sequence> live) {
  int kind = 0;
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (live[i].is_beam()) kind |= 1;
    if (live[i].of->job.temperature > 0) kind |= 2;
    if (step.at_sot[i] >= 0) kind |= 4;
  }
  return kind;
}

/// Two that are both no numbers are near each other.
bool near(double one, double other) {
  return std::abs(one - other) <= kTolerance || (std::isnan(one) && std::isnan(other));
}

/// A logit was no number, or no token is possible: the request fails, whatever token is selected.
bool fails(const Selection& selection) {
  return std::isnan(selection.choice.logprob) ||
         std::ranges::any_of(selection.continuations,
                             [](const Continuation& one) { return std::isnan(one.sum_logprob); });
}

/// Neighbours whose sums are near each other may have swapped, the last one with one that is not listed.
bool same_offers(const std::vector<Continuation>& found, const std::vector<Continuation>& wanted) {
  if (found.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto is_near = [&](const Continuation& other) { return near(other.sum_logprob, wanted[i].sum_logprob); };
    if (!is_near(found[i])) return false;
    const bool may_differ = (i > 0 && is_near(wanted[i - 1])) || i + 1 == wanted.size() || is_near(wanted[i + 1]);
    if (found[i].token != wanted[i].token && !may_differ) return false;
  }
  return true;
}

}  // namespace

std::vector<Selection> select_on_host(const StepRows& step, std::span<const Sequence> live,
                                      const DecodingTokens& tokens) {
  const c10::InferenceMode no_autograd;
  const auto logits = to_host(step.logits);
  const auto row = [&, width = logits.size(1)](std::int64_t index) {
    return std::span(logits.const_data_ptr<float>() + index * width, static_cast<std::size_t>(width));
  };
  std::vector<Selection> selections;
  for (std::size_t i = 0; i < live.size(); ++i) {
    const auto newest = row(step.newest[i]);
    std::vector<float> own(newest.begin(), newest.end());
    const auto at_sot = step.at_sot[i] < 0 ? std::span<const float>() : row(step.at_sot[i]);
    selections.push_back(select_token(live[i], own, at_sot, tokens));
  }
  return selections;
}

bool agree(const Selection& found, const Selection& wanted) {
  if (found.no_speech_prob.has_value() != wanted.no_speech_prob.has_value()) return false;
  if (!near(found.no_speech_prob.value_or(0), wanted.no_speech_prob.value_or(0))) return false;
  if (fails(found) || fails(wanted)) return fails(found) == fails(wanted);
  if (wanted.narrow) return true;
  return found.choice.token == wanted.choice.token && near(found.choice.logprob, wanted.choice.logprob) &&
         same_offers(found.continuations, wanted.continuations);
}

VerifiedTokenSelector::VerifiedTokenSelector(TokenSelector selector) : selector_(std::move(selector)) {}

TokenSelector VerifiedTokenSelector::at_device() {
  return [selector = DeviceTokenSelector()](const StepRows& step, std::span<const Sequence> live,
                                            const DecodingTokens& tokens) mutable {
    return selector.select_tokens(step, live, tokens);
  };
}

std::vector<Selection> VerifiedTokenSelector::select_tokens(const StepRows& step, std::span<const Sequence> live,
                                                            const DecodingTokens& tokens) {
  auto found = selector_(step, live, tokens);
  const int kind = kind_of(step, live);
  if (known_.contains(kind)) return found;
  auto wanted = select_on_host(step, live, tokens);
  known_.insert(kind);
  if (std::ranges::equal(found, wanted, agree)) return found;
  trusted_ = false;
  log(Level::warning, "tokens are selected on the host: for " + std::to_string(live.size()) +
                          " sequences the device selected some otherwise than row by row");
  return wanted;
}

}  // namespace tutti
