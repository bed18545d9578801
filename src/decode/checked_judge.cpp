#include "decode/checked_judge.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/log.h"
#include "decode/to_host.h"

namespace tutti {
namespace {

constexpr double kTolerance = 1e-3;  // of a log-probability

/// A bit for everything that is judged in a way of its own.
int kind_of(const StepRows& step, std::span<const Sequence> live) {
  int kind = 0;
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (live[i].is_beam()) kind |= 1;
    if (live[i].of->job.temperature > 0) kind |= 2;
    if (step.at_sot[i] >= 0) kind |= 4;
  }
  return kind;
}

std::vector<Verdict> judge_on_host(const StepRows& step, std::span<const Sequence> live, const DecodingTokens& tokens) {
  const c10::InferenceMode no_autograd;
  const auto logits = to_host(step.logits);
  std::vector<Verdict> verdicts;
  for (std::size_t i = 0; i < live.size(); ++i) {
    const auto row = logits.select(0, step.newest[i]).clone();
    verdicts.push_back(judge(live[i], {row.mutable_data_ptr<float>(), static_cast<std::size_t>(row.numel())}, tokens));
    if (step.at_sot[i] < 0 || !tokens.no_speech) continue;
    verdicts.back().no_speech_prob =
        logits.select(0, step.at_sot[i]).softmax(0).select(0, *tokens.no_speech).item<float>();
  }
  return verdicts;
}

/// Two that are both no numbers are near each other.
bool near(double one, double other) {
  return std::abs(one - other) <= kTolerance || (std::isnan(one) && std::isnan(other));
}

}  // namespace

bool agree(const Verdict& found, const Verdict& wanted) {
  if (found.no_speech_prob.has_value() != wanted.no_speech_prob.has_value()) return false;
  if (!near(found.no_speech_prob.value_or(0), wanted.no_speech_prob.value_or(0))) return false;
  if (wanted.narrow) return true;
  const bool choice = found.choice.token == wanted.choice.token && near(found.choice.logprob, wanted.choice.logprob);
  return choice && std::ranges::equal(found.continuations, wanted.continuations,
                                      [](const Continuation& one, const Continuation& other) {
                                        return near(one.sum_logprob, other.sum_logprob);
                                      });
}

CheckedJudge::CheckedJudge(StepJudge judge) : judge_(std::move(judge)) {}

StepJudge CheckedJudge::at_device() {
  return [judge = DeviceJudge()](const StepRows& step, std::span<const Sequence> live,
                                 const DecodingTokens& tokens) mutable { return judge.judge(step, live, tokens); };
}

std::vector<Verdict> CheckedJudge::judge(const StepRows& step, std::span<const Sequence> live,
                                         const DecodingTokens& tokens) {
  auto found = judge_(step, live, tokens);
  const int kind = kind_of(step, live);
  if (known_.contains(kind)) return found;
  auto wanted = judge_on_host(step, live, tokens);
  known_.insert(kind);
  if (std::ranges::equal(found, wanted, agree)) return found;
  trusted_ = false;
  log(Level::warning, "decoder steps are judged on the host: of " + std::to_string(live.size()) +
                          " sequences the device judged some otherwise than their rows by themselves");
  return wanted;
}

}  // namespace tutti
