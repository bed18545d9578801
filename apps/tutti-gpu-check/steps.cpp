#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <cmath>

#include "checks.h"
#include "model/decoder_step/checked_steps.h"

namespace tutti {
namespace {

constexpr WhisperDims kSmall{.n_audio_ctx = 300,
                             .n_audio_state = 128,
                             .n_audio_head = 2,
                             .n_audio_layer = 1,
                             .n_vocab = 51865,
                             .n_text_ctx = 64,
                             .n_text_state = 128,
                             .n_text_head = 2,
                             .n_text_layer = 2};
constexpr std::int32_t kSlots = 33;
constexpr std::int32_t kBatches[] = {1, 2, 3, 7, 8, 13, 24, 33};

/// Sequences of different lengths in two caches, stepped in one by static steps and in the other by the model.
class TwoWays {
 public:
  TwoWays(const WhisperModel& model, StepDevice device)
      : model_(model), device_(std::move(device)), steps_(model, fixed_, device_) {
    for (int i = 0; i < 3; ++i) {
      windows_.push_back(model.cross_kv(model.encode(at::randn({kSmall.n_mels, 2 * kSmall.n_audio_ctx}))));
    }
    for (std::int32_t slot = 0; slot < kSlots; ++slot) {
      const std::vector<std::int32_t> prompt(static_cast<std::size_t>(1 + slot % 29), 100 + slot);
      const SequenceStep prefill[] = {{.slot = slot, .tokens = prompt, .window = window_of(slot)}};
      model.decode(prefill, fixed_);
      model.decode(prefill, eager_);
      lengths_.push_back(static_cast<std::int32_t>(prompt.size()));
    }
  }

  /// One more token for so many sequences: how far apart the logits are.
  double step(std::int32_t count) {
    const std::vector<std::int32_t> tokens(1, 1000 + lengths_.front());
    std::vector<SequenceStep> steps;
    for (std::int32_t slot = 0; slot < count; ++slot) {
      auto& length = lengths_[static_cast<std::size_t>(slot)];
      steps.push_back({.slot = slot, .position = length++, .tokens = tokens, .window = window_of(slot)});
    }
    const auto found = steps_.decode(steps);
    return found ? step_distance(*found, model_.decode(steps, eager_)) : 1;
  }

  bool sound() const { return device_.trust->kernels && (!device_.recorder || device_.trust->recording); }

 private:
  const CrossKv* window_of(std::int32_t slot) const { return &windows_[static_cast<std::size_t>(slot % 3)]; }

  const WhisperModel& model_;
  StepDevice device_;
  SelfKv fixed_ = model_.make_self_kv(kSlots + 1);
  SelfKv eager_ = model_.make_self_kv(kSlots);
  CheckedSteps steps_;
  std::vector<CrossKv> windows_{};
  std::vector<std::int32_t> lengths_{};
};

/// One stepper after the other on the same device, as a worker has them: one that tries, and one for good.
void check_way(Report& report, const WhisperModel& model, const char* way, const StepDevice& device) {
  const auto what = std::string(model.type().name()) + ", " + way + " against eager, logits";
  report.attempt("step", what, [&] {
    double worst = 0;
    bool sound = true;
    for (int stepper = 0; stepper < 2; ++stepper) {
      TwoWays ways(model, device);
      for (const auto count : kBatches) {
        ways.step(count);  // the first use compares by itself
        const double apart = ways.step(count);
        sound = sound && apart <= step_tolerance(model.type());  // what is no number is not
        if (std::isnan(apart) || apart > worst) worst = apart;
      }
      sound = sound && ways.sound();
    }
    report.add({.check = "step", .what = what, .value = worst, .unit = "relative error", .passed = sound});
  });
}

void check_type(Report& report, at::Device device, ComputeType type) {
  at::manual_seed(20251121);
  const auto model = WhisperModel::random(kSmall, device, type);
  if (!StaticStep::fits(model)) return;
  if (device.is_cpu()) return check_way(report, model, "host kernels", {});
  check_way(report, model, "kernels", gpu_step_device(device.index(), false));
  check_way(report, model, "graphs", gpu_step_device(device.index(), true));
}

}  // namespace

void check_steps(Report& report, at::Device device) {
  const c10::InferenceMode no_autograd;
  auto types = compute_types(device);
  if (device.is_cpu()) types.push_back({ComputeType::float16});
  for (const auto& type : types) {
    report.attempt("step", type.name(), [&] { check_type(report, device, type.type); });
  }
}

}  // namespace tutti
