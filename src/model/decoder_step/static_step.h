#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "hub/memory_plan.h"
#include "model/decoder_step/step_buffers.h"
#include "model/decoder_step/step_device.h"
#include "model/decoder_step/step_inputs.h"
#include "model/whisper.h"

namespace tutti {

/// A decoder step in fixed shapes and on fixed memory: what differs from step to step is in one block
/// of inputs that is uploaded before. So `run` can be recorded once per bucket and replayed. Its products are torch's,
/// everything between them is the step's own kernels. One thread at a time; enqueues only.
class StaticStep {
 public:
  /// Whether a model can step so: heads of 64, feed-forward layers four times as wide as the state,
  /// layers not packed for the CPU's kernels.
  static bool fits(const WhisperModel& model);

  /// cache: with a slot more than sequences, for padding. Both must outlive the step. beams: as StepDevice's.
  StaticStep(const WhisperModel& model, const SelfKv& cache, std::int32_t processors, std::int32_t beams = 1);

  /// Rows of a step beside one for each slot: the tokens of short prompts.
  static constexpr std::int32_t kPromptRows = tutti::kPromptRows;

  /// Brings the inputs of a step onto the device: a row for each token of the sequences, at most one for each of the
  /// cache's slots and kPromptRows. Throws as WhisperModel::decode does. What was uploaded before must have been waited
  /// for.
  void upload(std::span<const SequenceStep> sequences, std::int32_t bucket);
  /// The step of what was uploaded for that bucket.
  void run(std::int32_t bucket) const;
  /// Whether rows that see the same window read it once.
  bool shares_windows() const { return together_ > 1; }
  /// From now on each row reads by itself. Recordings keep their ways.
  void read_apart() { together_ = 1; }
  /// The logits of the first rows of the last step, until the next: [rows, n_vocab] float32 on the device.
  at::Tensor logits(std::int64_t rows) const;

 private:
  const WhisperModel& model_;
  const SelfKv& cache_;
  std::int32_t processors_;
  std::int32_t together_;  // rows of a window, as a rule
  StepBuffers buffers_;
};

}  // namespace tutti
