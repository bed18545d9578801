#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>

#include "model/decoder_step/static_step.h"

namespace tutti {

/// Static steps that have to prove themselves: at the first use of every bucket the step is recorded, where the device
/// records, and its logits are compared with those of WhisperModel::decode. A recording that fails is done without from
/// then on; a difference ends the sharing of windows, and the next one turns static steps off, for all that share the
/// device. Each is logged in one line.
class CheckedSteps {
 public:
  /// cache: as StaticStep's.
  CheckedSteps(const WhisperModel& model, SelfKv& cache, StepDevice device);

  /// The requested logits, concatenated in the order of `sequences`: [rows, n_vocab] float32 on the device, until the
  /// next call; nothing where static steps are off. A row for each token, as many as StaticStep::upload takes. Throws
  /// as WhisperModel::decode does. Enqueues only, but for a bucket's first use.
  std::optional<at::Tensor> decode(std::span<const SequenceStep> sequences);

  /// Has the first use of every bucket that steps of `least` to `most` tokens fall into now, while no slot is in use:
  /// at most what StaticStep::upload takes. window: of any audio, even none; every other search sees its layers in
  /// reverse. Returns how many buckets were new.
  std::int32_t prepare(const CrossKv& window, std::int32_t least, std::int32_t most);

 private:
  at::Tensor first_use(std::span<const SequenceStep> sequences, std::int32_t bucket);
  at::Tensor wanted_logits(std::span<const SequenceStep> sequences) const;
  std::unique_ptr<StepRecording> record(std::int32_t bucket);
  void run(std::int32_t bucket, StepRecording* recording);
  void turned_off(const std::string& reason);
  void read_apart(double distance);

  const WhisperModel& model_;
  SelfKv& cache_;
  StepDevice device_;
  StaticStep step_;
  std::map<std::int32_t, std::unique_ptr<StepRecording>> known_{};  // buckets that were compared; null: not recorded
};

/// The error of a step's logits: the largest distance of a row from that of `wanted`, as a part of its length; NaN
/// where a number is none. found, wanted: [rows, n_vocab].
double step_distance(const at::Tensor& found, const at::Tensor& wanted);

/// The larger of two such errors; one that is no number is larger than any, and stays.
double farther(double one, double other);

/// What rounding alone may make of that.
double step_tolerance(ComputeType type);

}  // namespace tutti
