#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "model/decoder_step/step_recorder.h"
#include "model/whisper.h"

namespace tutti {

/// The encoder for several windows at a time, in batches of 8, 4, 2 and 1. Where a recorder is given, a batch size is
/// recorded at its first use and what the recording gives is compared with WhisperModel::encode. A recording that fails
/// or differs ends recording, with one line in the log: from then on the encoder's operators are enqueued one by one.
/// Without a recorder a CPU encodes window by window. One thread at a time.
class CheckedEncoder {
 public:
  static constexpr std::int64_t kLargest = 8;

  /// model: must outlive the encoder. recorder: of its own, since encodings may run beside decoder steps.
  CheckedEncoder(const WhisperModel& model, std::shared_ptr<StepRecorder> recorder);

  /// mels: [n, n_mels, 2 * positions] of any type on the CPU, any n -> what decoding needs of each window. What is
  /// pinned and of the encoder's type is one upload a batch. Enqueues only, but for a batch size's first use. Windows
  /// of fewer positions than n_audio_ctx are not recorded. Throws what torch throws.
  std::vector<CrossKv> encode(const at::Tensor& mels);

  /// Has the first use of every batch size up to `most` windows now. Returns how many sizes are recorded.
  std::int32_t prepare(std::int64_t most);
  /// Whether batches are recorded, or will be at their first use.
  bool records() const { return recorder_ != nullptr; }
  /// Gives the recordings' memory up; nothing is recorded any more.
  void stop_recording();

 private:
  struct Recorded {
    at::Tensor mels{};     // its input
    at::Tensor encoded{};  // and output, the same memory every time
    std::unique_ptr<StepRecording> recording{};
  };

  std::int64_t batch_of(std::int64_t windows) const;
  at::Tensor encode_batch(const at::Tensor& mels);
  at::Tensor first_use(const at::Tensor& mels);
  std::unique_ptr<StepRecording> record(const at::Tensor& mels, const at::Tensor& encoded);

  const WhisperModel& model_;
  std::shared_ptr<StepRecorder> recorder_;
  std::map<std::int64_t, Recorded> known_{};  // by batch size
};

}  // namespace tutti
