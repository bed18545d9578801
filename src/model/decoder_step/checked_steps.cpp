#include "model/decoder_step/checked_steps.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/numbers.h"
#include "model/gpu/out_of_memory.h"

namespace tutti {

namespace {

std::int32_t token_count(std::span<const SequenceStep> sequences) {
  std::int32_t count = 0;
  for (const auto& sequence : sequences) count += static_cast<std::int32_t>(sequence.tokens.size());
  return count;
}

}  // namespace

CheckedSteps::CheckedSteps(const WhisperModel& model, SelfKv& cache, StepDevice device)
    : model_(model),
      cache_(cache),
      device_(std::move(device)),
      step_(model, cache, device_.processors, device_.trust->sharing ? device_.beams : 1) {}

std::optional<at::Tensor> CheckedSteps::decode(std::span<const SequenceStep> sequences) {
  if (!device_.trust->kernels) return {};
  const auto bucket = bucket_for(token_count(sequences));
  step_.upload(sequences, bucket);
  const auto known = known_.find(bucket);
  if (known == known_.end()) return first_use(sequences, bucket);
  run(bucket, known->second.get());
  return wanted_logits(sequences);
}

/// Neighbouring rows together: where every token's logits are requested nothing is copied.
at::Tensor CheckedSteps::wanted_logits(std::span<const SequenceStep> sequences) const {
  const auto all = step_.logits(token_count(sequences));
  std::vector<std::int64_t> wanted;
  std::int64_t first = 0;
  for (const auto& sequence : sequences) {
    const auto count = static_cast<std::int64_t>(sequence.tokens.size());
    for (const auto at : sequence.logits_at) wanted.push_back(first + at);
    for (std::int64_t at = 0; sequence.logits_at.empty() && at < count; ++at) wanted.push_back(first + at);
    first += count;
  }
  std::vector<at::Tensor> runs;
  for (std::size_t i = 0, next = 0; i < wanted.size(); i = next) {
    while (next < wanted.size() && wanted[next] == wanted[i] + static_cast<std::int64_t>(next - i)) ++next;
    runs.push_back(all.narrow(0, wanted[i], static_cast<std::int64_t>(next - i)));
  }
  return runs.size() == 1 ? runs.front() : at::cat(runs);
}

void CheckedSteps::turned_off(const std::string& reason) {
  device_.trust->reason = reason;
  log(Level::warning, reason);
}

std::int32_t CheckedSteps::prepare(const CrossKv& window, std::int32_t least, std::int32_t most) {
  const auto positions = static_cast<std::int32_t>(cache_.positions());
  const auto slots = static_cast<std::int32_t>(cache_.slots()) - 1;
  // Neither two rows nor two neighbouring searches are alike.
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(slots + positions));
  for (std::int32_t next = model_.dims().n_vocab / 2; auto& token : tokens) token = next++ % model_.dims().n_vocab;
  auto other = window;
  std::ranges::reverse(other.layers);
  std::vector<std::int32_t> held(static_cast<std::size_t>(slots));  // tokens in each slot
  std::int32_t fresh = 0;
  for (auto rows = least; rows <= most && device_.trust->kernels; ++rows) {
    const auto bucket = bucket_for(rows);
    if (known_.contains(bucket)) continue;
    // As many as go into the bucket, so that each of its rows is compared: one for each slot, then prompts'.
    const auto filled = std::min(bucket, most);
    auto more = std::max(filled - slots, 0);
    std::vector<SequenceStep> steps;
    for (std::int32_t slot = 0; slot < std::min(filled, slots); ++slot) {
      auto& position = held[static_cast<std::size_t>(slot)];
      const auto count = 1 + std::min(more, positions - 1);
      more -= count - 1;
      const auto appended = std::span(tokens).subspan(static_cast<std::size_t>(slot), static_cast<std::size_t>(count));
      const auto* seen = slot / device_.beams % 2 == 0 ? &window : &other;
      if (position + std::ssize(appended) > positions) position = 0;
      steps.push_back({.slot = slot, .position = position, .tokens = appended, .window = seen});
      position += static_cast<std::int32_t>(appended.size());
    }
    decode(steps);
    ++fresh;
  }
  return fresh;
}

void CheckedSteps::run(std::int32_t bucket, StepRecording* recording) {
  recording ? recording->replay() : step_.run(bucket);
}

std::unique_ptr<StepRecording> CheckedSteps::record(std::int32_t bucket) {
  if (!device_.recorder || !device_.trust->recording) return nullptr;
  try {
    return device_.recorder->record([this, bucket] { step_.run(bucket); });
  } catch (const std::exception& error) {
    if (is_out_of_memory(error)) throw;  // to be met with fewer slots
    const std::string why = error.what();
    device_.trust->recording = false;
    turned_off("decoder steps are not recorded, each is enqueued again: " + why.substr(0, why.find('\n')));
    return nullptr;
  }
}

/// What was recorded for rows that share a window is recorded again at its next use.
void CheckedSteps::read_apart(double distance) {
  device_.trust->sharing = false;
  step_.read_apart();
  known_.clear();
  turned_off("beams of one window read it one by one: logits of steps that read it once differ by " +
             std::to_string(distance) + " of their length from torch's, more than " +
             number_text(step_tolerance(model_.type())));
}

at::Tensor CheckedSteps::first_use(std::span<const SequenceStep> sequences, std::int32_t bucket) {
  const c10::InferenceMode no_autograd;
  auto recording = record(bucket);
  const auto wanted = model_.decode(sequences, cache_);
  try {
    run(bucket, recording.get());  // last: its keys and values stay, as those of every later step will
  } catch (const KernelError& error) {
    if (!error.is_missing_code()) throw;
    device_.trust->kernels = false;
    turned_off(std::string("static decoder steps are off: ") + error.what());
    return wanted;
  }
  const auto found = wanted_logits(sequences);
  const auto distance = step_distance(found, wanted);
  device_.trust->distance = farther(distance, device_.trust->distance);
  known_[bucket] = std::move(recording);
  if (distance <= step_tolerance(model_.type())) return found;
  if (step_.shares_windows()) {
    read_apart(distance);
    return first_use(sequences, bucket);
  }
  device_.trust->kernels = false;
  turned_off("static decoder steps are off: logits of " + std::to_string(sequences.size()) + " sequences differ by " +
             std::to_string(distance) + " of their length from torch's, more than " +
             number_text(step_tolerance(model_.type())));
  return model_.decode(sequences, cache_);
}

double step_distance(const at::Tensor& found, const at::Tensor& wanted) {
  const auto apart = (found.to(at::kFloat) - wanted.to(at::kFloat)).norm(2, 1);
  return (apart / wanted.to(at::kFloat).norm(2, 1)).max().item<double>();
}

double farther(double one, double other) {
  return std::isnan(one) || one > other ? one : other;
}

double step_tolerance(ComputeType type) {
  switch (type.kind()) {
    case ComputeType::float32: return 1e-4;
    case ComputeType::tf32: return 1e-2;
    // float16 too: torch rounds the scores of attention to it, the kernels do not. Among tiny.en's first token they
    // were 0.022 apart on an H100, with random weights 0.002.
    default: return 5e-2;
  }
}

}  // namespace tutti
