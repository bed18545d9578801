#include "model/checked_encoder.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/log.h"
#include "model/decoder_step/checked_steps.h"
#include "model/gpu/out_of_memory.h"

namespace tutti {

CheckedEncoder::CheckedEncoder(const WhisperModel& model, std::shared_ptr<StepRecorder> recorder)
    : model_(model), recorder_(std::move(recorder)) {}

/// The largest batch size that so many windows fill.
std::int64_t CheckedEncoder::batch_of(std::int64_t windows) const {
  if (model_.device().is_cpu() && !recorder_) return 1;
  auto size = kLargest;
  while (size > windows) size /= 2;
  return size;
}

std::vector<CrossKv> CheckedEncoder::encode(const at::Tensor& mels) {
  const c10::InferenceMode no_autograd;
  std::vector<CrossKv> windows;
  for (std::int64_t first = 0; first < mels.size(0);) {
    const auto count = batch_of(mels.size(0) - first);
    auto batch = model_.cross_kvs(encode_batch(mels.narrow(0, first, count)), count);
    std::ranges::move(batch, std::back_inserter(windows));
    first += count;
  }
  return windows;
}

at::Tensor CheckedEncoder::encode_batch(const at::Tensor& mels) {
  if (!recorder_ || mels.size(2) < 2 * std::int64_t{model_.dims().n_audio_ctx}) return model_.encode(mels);
  const auto known = known_.find(mels.size(0));
  if (known == known_.end()) return first_use(mels);
  const auto& recorded = known->second;
  // Pinned memory of the input's type needs no other on its way.
  const bool plain = mels.scalar_type() == recorded.mels.scalar_type() && mels.is_pinned();
  recorded.mels.copy_(plain ? mels : model_.upload(mels), /*non_blocking=*/true);
  recorded.recording->replay();
  return recorded.encoded;
}

std::unique_ptr<StepRecording> CheckedEncoder::record(const at::Tensor& mels, const at::Tensor& encoded) {
  try {
    return recorder_->record([this, mels, encoded] {
      const c10::InferenceMode no_autograd;
      encoded.copy_(model_.encode(mels));
    });
  } catch (const std::exception& error) {
    if (is_out_of_memory(error)) throw;  // to be met with fewer windows
    const std::string why = error.what();
    stop_recording();
    log(Level::warning, "encodings are not recorded, each is enqueued again: " + why.substr(0, why.find('\n')));
    return nullptr;
  }
}

at::Tensor CheckedEncoder::first_use(const at::Tensor& mels) {
  const auto uploaded = model_.upload(mels);
  Recorded fresh{.mels = at::empty_like(uploaded).copy_(uploaded)};
  const auto wanted = model_.encode(fresh.mels);
  fresh.encoded = at::empty_like(wanted);
  fresh.recording = record(fresh.mels, fresh.encoded);
  if (!fresh.recording) return wanted;
  fresh.encoded.zero_();  // what recording left there must not pass for what a replay writes
  fresh.recording->replay();
  // Each window as a whole.
  const auto rows = [&](const at::Tensor& encoded) { return encoded.view({mels.size(0), -1}); };
  const auto distance = step_distance(rows(fresh.encoded), rows(wanted));
  if (distance <= step_tolerance(model_.type()))
    return known_.emplace(mels.size(0), std::move(fresh)).first->second.encoded;
  stop_recording();
  log(Level::warning, "recorded encodings are off: of " + std::to_string(mels.size(0)) + " windows one differs by " +
                          std::to_string(distance) + " of its length from torch's");
  return wanted;
}

std::int32_t CheckedEncoder::prepare(std::int64_t most) {
  const c10::InferenceMode no_autograd;
  const auto& dims = model_.dims();
  for (std::int64_t size = 1; size <= std::min(most, kLargest) && recorder_; size *= 2) {
    if (!known_.contains(size)) encode(at::randn({size, dims.n_mels, 2 * std::int64_t{dims.n_audio_ctx}}));
  }
  return static_cast<std::int32_t>(known_.size());
}

void CheckedEncoder::stop_recording() {
  known_.clear();
  recorder_.reset();
}

}  // namespace tutti
