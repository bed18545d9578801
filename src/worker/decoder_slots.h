#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "decode/batcher.h"
#include "decode/stepper.h"
#include "link/messages.h"
#include "worker/memory_backoff.h"
#include "worker/network.h"

namespace tutti {

/// The requests that are being decoded, and the slots of a model's stepper that they share. One thread.
class DecoderSlots {
 public:
  /// All references must outlive it.
  DecoderSlots(const LoadedModel& model, MemoryBackoff& backoff, const Clock& clock);

  /// Sequences that may step together: a search with beams is as many as it has beams.
  std::int32_t count() const { return windows_ * beams_; }
  /// Whether a request more would be stepped at once.
  bool any_free() const { return batcher_.jobs() < windows_; }
  /// No request is here.
  bool idle() const { return batcher_.idle(); }

  /// Queues a request. Fault::usage for one that the model cannot do.
  Result<void> submit(SequenceRequest request);
  /// Drops all requests of a window; they return no result.
  void forget(WindowId id) { batcher_.forget(id); }
  /// Takes back requests that wait, as Batcher::withdraw_waiting.
  std::vector<SequenceRequest> withdraw_waiting() { return batcher_.withdraw_waiting(); }
  /// One decoder step of all that fit; the requests that ended. At least one is here.
  std::vector<DecodeResult> step();
  /// Logits [1, n_vocab] behind the start of transcript alone, by which the language is detected.
  Result<at::Tensor> first_logits(const std::shared_ptr<const CrossKv>& window);

  /// Half as many windows step at a time from now on; those that do begin again. Nothing: it is one already.
  std::optional<std::string> halve();
  /// Has the device do its first uses of steps now. Returns how many sizes; throws what torch throws.
  std::int32_t prepare();
  /// Steppers are made again at their next use.
  void drop_steppers();

 private:
  std::unique_ptr<Stepper> make_stepper() const;
  void free_slots_for(std::int32_t beams);

  const LoadedModel& model_;
  MemoryBackoff& backoff_;
  Batcher batcher_;
  std::int32_t windows_;                 // to step together
  std::int32_t beams_ = 1;               // the most that a request named
  std::unique_ptr<Stepper> stepper_{};   // made at first use, and again after a change of count()
  std::unique_ptr<Stepper> detector_{};  // one slot, for language detection
};

}  // namespace tutti
