#include "model/decoder_step/checked_steps.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/log.h"

namespace tutti {

CheckedSteps::CheckedSteps(const WhisperModel& model, SelfKv& cache, StepDevice device)
    : model_(model), cache_(cache), device_(std::move(device)), step_(model, cache, device_.processors) {}

std::optional<at::Tensor> CheckedSteps::decode(std::span<const SequenceStep> sequences) {
  if (!device_.trust->kernels) return {};
  const auto bucket = bucket_for(static_cast<std::int32_t>(sequences.size()));
  step_.upload(sequences, bucket);
  const auto known = known_.find(bucket);
  if (known == known_.end()) return first_use(sequences, bucket);
  run(bucket, known->second.get());
  return step_.logits(static_cast<std::int64_t>(sequences.size()));
}

std::int32_t CheckedSteps::prepare(const CrossKv& window, std::int32_t least, std::int32_t most) {
  const auto n_text_ctx = model_.dims().n_text_ctx;
  const std::int32_t token = model_.dims().n_vocab / 2;
  std::vector<std::int32_t> held(static_cast<std::size_t>(most));  // tokens in each slot
  std::int32_t fresh = 0;
  for (auto rows = least; rows <= most && device_.trust->kernels; ++rows) {
    const auto bucket = bucket_for(rows);
    if (known_.contains(bucket)) continue;
    std::vector<SequenceStep> steps;  // as many as go into the bucket, so that each of its rows is compared
    for (std::int32_t slot = 0; slot < std::min(bucket, most); ++slot) {
      auto& position = held[static_cast<std::size_t>(slot)];
      steps.push_back({.slot = slot, .position = position, .tokens = {&token, 1}, .window = &window});
      position = (position + 1) % n_text_ctx;
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
  } catch (const c10::OutOfMemoryError&) {
    throw;  // to be met with fewer slots
  } catch (const std::exception& error) {
    const auto* kernel = dynamic_cast<const KernelError*>(&error);
    if (kernel && kernel->is_out_of_memory()) throw;  // likewise
    const std::string why = error.what();
    device_.trust->recording = false;
    log(Level::warning, "decoder steps are not recorded, each is enqueued again: " + why.substr(0, why.find('\n')));
    return nullptr;
  }
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
    log(Level::warning, std::string("static decoder steps are off: ") + error.what());
    return wanted;
  }
  const auto found = step_.logits(static_cast<std::int64_t>(sequences.size()));
  const auto distance = step_distance(found, wanted);
  known_[bucket] = std::move(recording);
  if (distance <= step_tolerance(model_.type())) return found;
  device_.trust->kernels = false;
  log(Level::warning, "static decoder steps are off: logits of " + std::to_string(sequences.size()) +
                          " sequences differ by " + std::to_string(distance) + " of their length from torch's");
  return model_.decode(sequences, cache_);
}

double step_distance(const at::Tensor& found, const at::Tensor& wanted) {
  const auto apart = (found.to(at::kFloat) - wanted.to(at::kFloat)).norm(2, 1);
  return (apart / wanted.to(at::kFloat).norm(2, 1)).max().item<double>();
}

double step_tolerance(ComputeType type) {
  switch (type.kind()) {
    case ComputeType::float32: return 1e-4;
    case ComputeType::tf32:
    case ComputeType::float16: return 1e-2;
    default: return 5e-2;
  }
}

}  // namespace tutti
