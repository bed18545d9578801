#include "train/evaluation/set_decoder.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/try.h"
#include "base/units.h"
#include "decode/batcher.h"
#include "decode/decoding_tokens.h"
#include "model/device_name.h"

namespace tutti {
namespace {

SequenceRequest job_for(const Tokenizer& tokenizer, const SetDecodingOptions& options, std::int32_t n_text_ctx) {
  SequenceRequest job{.prompt = options.sot_sequence,
                      .decoding = {.suppress_blank = false, .timestamps = options.timestamps}};
  const auto& special = tokenizer.special();
  if (!options.timestamps) job.prompt.push_back(special.no_timestamps);
  job.max_tokens = most_tokens(n_text_ctx, job.prompt.size());
  auto& never = job.decoding.suppress_tokens;
  never = {special.sot, special.sot_prev, special.sot_lm, special.no_speech, special.translate, special.transcribe};
  never.insert(never.end(), special.languages.begin(), special.languages.end());
  return job;
}

/// With a GPU's own kernels for steps, which prove themselves at their first use; not recorded, for an evaluation has
/// few steps of each size.
ModelStepper stepper_over(const WhisperModel& model) {
  std::optional<StepDevice> steps;
  if (model.device().is_cuda()) steps = gpu_step_device(index_of(model.device()), /*record=*/false);
  return ModelStepper(model, kDecodedTogether, std::move(steps));
}

/// Rows of batches, one after the other.
class Rows {
 public:
  explicit Rows(const NextBatch& batches) : batches_(batches) {}

  /// Whether there is another one; it is then the current one.
  Result<bool> next() {
    ++row_;
    while (!batch_ || row_ >= batch_->size()) {
      batch_ = TRY(batches_());
      row_ = 0;
      if (!batch_) return false;
    }
    return true;
  }
  /// [n_mels, frames] float32, a view of the batch.
  at::Tensor mel() const {
    return at::from_blob(const_cast<float*>(batch_->row(row_)), {batch_->n_mels, batch_->frames}, at::kFloat);
  }
  const BatchSample& sample() const { return batch_->samples[static_cast<std::size_t>(row_)]; }

 private:
  const NextBatch& batches_;
  std::optional<Batch> batch_{};
  std::int64_t row_ = -1;
};

SampleResult undecoded(const BatchSample& sample) {
  return {.id = sample.id,
          .condition = sample.fields.empty() ? "" : sample.fields.front(),
          .reference = sample.text,
          .audio = sample.audio,
          .start = sample.start,
          .end = sample.start + sample.frames / kFramesPerSecond};
}

/// Whenever a text has ended another window takes its row: the longest of a batch does not hold up the others.
class Listening {
 public:
  Listening(const WhisperModel& model, const Tokenizer& tokenizer, const SetDecodingOptions& options, Batcher batcher,
            Rows rows)
      : model_(model),
        tokenizer_(tokenizer),
        interrupted_(options.interrupted),
        job_(job_for(tokenizer, options, model.dims().n_text_ctx)),
        rows_(std::move(rows)),
        stepper_(stepper_over(model)),
        batcher_(std::move(batcher)) {}

  Result<std::vector<SampleResult>> all() {
    const c10::InferenceMode no_gradients;
    for (;;) {
      TRY(fill());
      if (is_interrupted()) return fail(Fault::cancelled, "decoding the set was interrupted");
      if (batcher_.idle()) return std::move(results_);
      for (const auto& done : batcher_.step(stepper_)) {
        if (!done.outcome) return tl::unexpected<Error>(done.outcome.error());
        results_[done.window_id - 1].hypothesis = tokenizer_.decode(done.outcome->tokens);
      }
    }
  }

 private:
  bool is_interrupted() const { return interrupted_ && interrupted_(); }

  /// Gives every free slot a window.
  Result<void> fill() {
    while (!ended_ && batcher_.jobs() < kDecodedTogether) {
      if (is_interrupted()) return {};
      const auto more = TRY(rows_.next());
      ended_ = !more;
      if (ended_) break;
      results_.push_back(undecoded(rows_.sample()));
      auto one = job_;
      one.window_id = results_.size();
      one.window = std::make_shared<const CrossKv>(model_.cross_kv(model_.encode(rows_.mel())));
      TRY(check(one, model_.dims()));
      batcher_.submit(std::move(one));
    }
    return {};
  }

  const WhisperModel& model_;
  const Tokenizer& tokenizer_;
  const std::function<bool()> interrupted_;
  const SequenceRequest job_;
  Rows rows_;
  ModelStepper stepper_;
  Batcher batcher_;
  std::vector<SampleResult> results_{};
  bool ended_ = false;
};

}  // namespace

Result<std::vector<SampleResult>> decode_set(const WhisperModel& model, const Tokenizer& tokenizer,
                                             const SetDecodingOptions& options, const NextBatch& batches) {
  const auto& dims = model.dims();
  auto tokens = TRY(decoding_tokens(tokenizer.special(), tokenizer.blank(), dims.n_vocab));
  return Listening(model, tokenizer, options, Batcher(std::move(tokens), dims.n_text_ctx, Clock::real()), Rows(batches))
      .all();
}

}  // namespace tutti
