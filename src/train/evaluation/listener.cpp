#include "train/evaluation/listener.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/units.h"
#include "decode/batcher.h"
#include "decode/decoding_tokens.h"
#include "model/device_name.h"

namespace tutti {
namespace {

DecodeJob job_for(const Tokenizer& tokenizer, const ListenOptions& options, std::int32_t n_text_ctx) {
  DecodeJob job{.prompt = options.sot_sequence, .rules = {.suppress_blank = false, .timestamps = options.timestamps}};
  const auto& special = tokenizer.special();
  if (!options.timestamps) job.prompt.push_back(special.no_timestamps);
  job.max_tokens = most_tokens(n_text_ctx, job.prompt.size());
  job.rules.suppress = {special.sot,       special.sot_prev,  special.sot_lm,
                        special.no_speech, special.translate, special.transcribe};
  job.rules.suppress.insert(job.rules.suppress.end(), special.languages.begin(), special.languages.end());
  return job;
}

/// A GPU's own kernels for steps, which prove themselves at their first use; not recorded, for an evaluation has few
/// steps of each size.
std::optional<StepDevice> steps_on(at::Device device) {
  if (!device.is_cuda()) return {};
  return gpu_step_device(index_of(device), /*record=*/false);
}

/// Decodes the windows of one batch together.
Result<std::vector<std::string>> hear(const WhisperModel& model, ModelStepper& stepper, Batcher& batcher,
                                      const Batch& batch, const DecodeJob& job, const Tokenizer& tokenizer) {
  const c10::InferenceMode no_gradients;
  for (std::int64_t i = 0; i < batch.size(); ++i) {
    const auto mel = at::from_blob(const_cast<float*>(batch.row(i)), {batch.n_mels, batch.frames}, at::kFloat);
    auto one = job;
    one.window_id = static_cast<std::uint64_t>(i + 1);
    one.window = std::make_shared<const CrossKv>(model.cross_kv(model.encode(mel)));
    if (auto checked = check(one, model.dims()); !checked) return tl::unexpected<Error>(checked.error());
    batcher.submit(std::move(one));
  }
  std::vector<std::string> texts(static_cast<std::size_t>(batch.size()));
  while (!batcher.idle()) {
    for (const auto& done : batcher.step(stepper)) {
      if (!done.outcome) return tl::unexpected<Error>(done.outcome.error());
      texts[done.window_id - 1] = tokenizer.decode(done.outcome->tokens);
    }
  }
  return texts;
}

}  // namespace

Result<std::vector<HeardSample>> listen(const WhisperModel& model, const Tokenizer& tokenizer,
                                        const ListenOptions& options, const NextBatch& batches) {
  const auto& dims = model.dims();
  auto tokens = decoding_tokens(tokenizer.special(), tokenizer.blank(), dims.n_vocab);
  if (!tokens) return tl::unexpected<Error>(tokens.error());
  ModelStepper stepper(model, kHeardTogether, steps_on(model.device()));
  Batcher batcher(std::move(*tokens), dims.n_text_ctx, Clock::real());
  const auto job = job_for(tokenizer, options, dims.n_text_ctx);
  std::vector<HeardSample> heard;
  for (;;) {
    const auto batch = batches();
    if (!batch) return tl::unexpected<Error>(batch.error());
    if (!*batch) return heard;
    const auto texts = hear(model, stepper, batcher, **batch, job, tokenizer);
    if (!texts) return tl::unexpected<Error>(texts.error());
    for (std::size_t i = 0; i < texts->size(); ++i) {
      const auto& sample = (*batch)->samples[i];
      heard.push_back({.id = sample.id,
                       .condition = sample.fields.empty() ? "" : sample.fields.front(),
                       .reference = sample.text,
                       .hypothesis = (*texts)[i],
                       .audio = sample.audio,
                       .start = sample.start,
                       .end = sample.start + sample.frames / kFramesPerSecond});
    }
  }
}

}  // namespace tutti
