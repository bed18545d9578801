#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "model/decoder_step/checked_steps.h"
#include "model/whisper.h"

namespace tutti {

/// The decoder network as the batcher sees it: a number of slots, each holding one sequence. One thread at a time.
class Stepper {
 public:
  virtual ~Stepper() = default;

  virtual std::int32_t slots() const = 0;

  /// Appends every sequence's tokens to its slot. Returns the requested logits, in order:
  /// [rows, n_vocab] float32, contiguous, on the CPU, the caller's to change. Waits for the device.
  virtual at::Tensor decode(std::span<const SequenceStep> sequences) = 0;

  /// Whether bringing all logits to the host costs more than selecting tokens where they are computed.
  virtual bool selects_on_device() const { return false; }
  /// As `decode`, but the logits stay where they are computed: not the caller's to change, and gone with the next call.
  virtual at::Tensor decode_there(std::span<const SequenceStep> sequences) { return decode(sequences); }

  /// Has the device do now what it otherwise does at the first step of so many sequences, from `least` to `most`, and
  /// of short prompts beside them; while no slot is in use. window: any. Returns the number of sizes that steps are
  /// prepared for.
  virtual std::int32_t prepare(const CrossKv&, std::int32_t /*least*/, std::int32_t /*most*/) { return 0; }

  /// Makes tokens [first, first + count) of slot `to` those of slot `from`.
  virtual void copy_slot(std::int32_t from, std::int32_t to, std::int32_t first, std::int32_t count) = 0;
};

/// A Stepper over a model and its own self-attention cache.
class ModelStepper : public Stepper {
 public:
  /// `model` must outlive the stepper. device: single tokens and short prompts go in static steps, where the model fits
  /// them; without it everything is WhisperModel::decode's. text_positions: as make_self_kv's. Throws
  /// c10::OutOfMemoryError where the cache does not fit.
  ModelStepper(const WhisperModel& model, std::int32_t slots, std::optional<StepDevice> device = {},
               std::int32_t text_positions = 0);

  std::int32_t slots() const override { return slots_; }
  at::Tensor decode(std::span<const SequenceStep> sequences) override;
  bool selects_on_device() const override;
  /// Enqueues only, but for what CheckedSteps compares.
  at::Tensor decode_there(std::span<const SequenceStep> sequences) override;
  std::int32_t prepare(const CrossKv& window, std::int32_t least, std::int32_t most) override;
  void copy_slot(std::int32_t from, std::int32_t to, std::int32_t first, std::int32_t count) override;

 private:
  at::Tensor decode_apart(std::span<const SequenceStep> sequences);

  const WhisperModel& model_;
  std::int32_t slots_;
  SelfKv cache_;
  std::unique_ptr<CheckedSteps> steps_{};
};

}  // namespace tutti
