#include "worker/decoder_slots.h"

#include <ATen/ATen.h>

#include <span>
#include <utility>

#include "base/try.h"
#include "decode/fixed_shapes.h"

namespace tutti {

DecoderSlots::DecoderSlots(const LoadedModel& model, MemoryBackoff& backoff, const Clock& clock)
    : model_(model),
      backoff_(backoff),
      batcher_(model.tokens, model.network->text_positions(), clock),
      windows_(model.slots),
      beams_(model.beams) {}

std::unique_ptr<Stepper> DecoderSlots::make_stepper() const {
  if (!model_.deterministic) return model_.network->make_stepper(count(), beams_);
  return std::make_unique<FixedShapeStepper>(model_.network->make_stepper(count() + FixedShapeStepper::kRows, beams_));
}

std::int32_t DecoderSlots::prepare() {
  stepper_ = make_stepper();
  auto sizes = model_.network->prepare(*stepper_);
  if (!model_.languages.empty()) {
    detector_ = model_.network->make_stepper(1);
    sizes += model_.network->prepare(*detector_);
  }
  return sizes;
}

void DecoderSlots::drop_steppers() {
  stepper_.reset();
  detector_.reset();
}

std::optional<std::string> DecoderSlots::halve() {
  if (windows_ == 1) return std::nullopt;
  const auto before = count();
  windows_ /= 2;
  batcher_.restart();
  stepper_.reset();
  return "stepping " + std::to_string(count()) + " sequences at a time instead of " + std::to_string(before);
}

/// A run requests one number of beams, so this happens once, at its first window.
void DecoderSlots::free_slots_for(std::int32_t beams) {
  if (beams <= beams_) return;
  beams_ = beams;
  batcher_.restart();
  stepper_.reset();
}

Result<void> DecoderSlots::submit(SequenceRequest request) {
  TRY(check(request, model_.network->dims(), model_.network->text_positions()));
  free_slots_for(request.slots());
  batcher_.submit(std::move(request));
  return {};
}

std::vector<DecodeResult> DecoderSlots::step() {
  auto finished = backoff_.run("decoding", [&, again = false]() mutable {
    if (std::exchange(again, true)) batcher_.restart();  // a step that threw left it halfway
    if (!stepper_) stepper_ = make_stepper();
    return batcher_.step(*stepper_);
  });
  return finished ? std::move(*finished) : batcher_.fail_current(finished.error());
}

Result<at::Tensor> DecoderSlots::first_logits(const std::shared_ptr<const CrossKv>& window) {
  return backoff_.run("detecting the language", [&, kv = window] {
    if (!detector_) detector_ = model_.network->make_stepper(1);
    const SequenceStep sot{.tokens = std::span(&model_.sot, 1), .window = kv.get()};
    return detector_->decode(std::span(&sot, 1));
  });
}

}  // namespace tutti
