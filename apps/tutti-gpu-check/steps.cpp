#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <optional>

#include "checks.h"
#include "model/decoder_step/checked_steps.h"

namespace tutti {
namespace {

constexpr const char* kSmallName = "small network";
constexpr WhisperDims kSmall{.n_audio_ctx = 300,
                             .n_audio_state = 128,
                             .n_audio_head = 2,
                             .n_audio_layer = 1,
                             .n_vocab = 51865,
                             .n_text_ctx = 64,
                             .n_text_state = 128,
                             .n_text_head = 2,
                             .n_text_layer = 2};
const std::vector<std::int32_t> kSmallBatches{1, 2, 3, 7, 8, 13, 24, 33};

/// Sequences of different lengths in two caches, stepped in one by static steps and in the other by the model.
class TwoWays {
 public:
  /// slots: sequences at most.
  TwoWays(const WhisperModel& model, std::int32_t slots, StepDevice device)
      : model_(model),
        fixed_(model.make_self_kv(slots + 1)),
        eager_(model.make_self_kv(slots)),
        steps_(model, fixed_, std::move(device)) {
    const auto& dims = model.dims();
    for (int i = 0; i < 3; ++i) {
      windows_.push_back(model.cross_kv(model.encode(at::randn({dims.n_mels, 2 * dims.n_audio_ctx}))));
    }
    for (std::int32_t slot = 0; slot < slots; ++slot) {
      const std::vector<std::int32_t> prompt(static_cast<std::size_t>(1 + slot % 29), 100 + slot);
      const SequenceStep prefill[] = {{.slot = slot, .tokens = prompt, .window = window_of(slot)}};
      model.decode(prefill, fixed_);
      model.decode(prefill, eager_);
      lengths_.push_back(static_cast<std::int32_t>(prompt.size()));
    }
  }

  /// One more token for so many sequences: how far apart the logits are; none where static steps are off.
  std::optional<double> step(std::int32_t count) {
    const std::vector<std::int32_t> tokens(1, 1000 + lengths_.front());
    std::vector<SequenceStep> steps;
    for (std::int32_t slot = 0; slot < count; ++slot) {
      auto& length = lengths_[static_cast<std::size_t>(slot)];
      steps.push_back({.slot = slot, .position = length++, .tokens = tokens, .window = window_of(slot)});
    }
    const auto found = steps_.decode(steps);
    const auto wanted = model_.decode(steps, eager_);
    return found ? std::optional(step_distance(*found, wanted)) : std::nullopt;
  }

 private:
  const CrossKv* window_of(std::int32_t slot) const { return &windows_[static_cast<std::size_t>(slot % 3)]; }

  const WhisperModel& model_;
  SelfKv fixed_;
  SelfKv eager_;
  CheckedSteps steps_;
  std::vector<CrossKv> windows_{};
  std::vector<std::int32_t> lengths_{};
};

/// A network whose steps are checked, with so many sequences at a time.
struct SteppedModel {
  std::string name{};
  WhisperModel model;
  std::vector<std::int32_t> batches{};
  double tolerance = 0;  // with random weights, which rounding moves less than it may move real ones
};

/// One stepper after the other on the same device, as a worker has them: one that tries, and one for good.
void check_way(Report& report, const SteppedModel& stepped, const char* way, const StepDevice& device) {
  const auto type = stepped.model.type();
  const auto what = stepped.name + " " + std::string(type.name()) + ", " + way + " against eager, logits";
  report.attempt("step", what, [&] {
    double worst = 0;
    for (int stepper = 0; stepper < 2; ++stepper) {
      TwoWays ways(stepped.model, std::ranges::max(stepped.batches), device);
      for (const auto count : stepped.batches) {
        ways.step(count);  // the first use compares by itself
        const auto apart = ways.step(count);
        if (apart) worst = farther(*apart, worst);
      }
    }
    const auto& trust = *device.trust;
    worst = farther(trust.distance, worst);
    if (!trust.reason.empty()) report.note(what + ": " + trust.reason);
    report.add({.check = "step",
                .what = what,
                .value = worst,
                .unit = "relative error",
                .passed = !device.fell_back() && worst <= stepped.tolerance});
  });
}

void check_model(Report& report, at::Device device, const SteppedModel& stepped) {
  if (!StaticStep::fits(stepped.model)) return;
  if (device.is_cpu()) return check_way(report, stepped, "host kernels", {});
  check_way(report, stepped, "kernels", gpu_step_device(device.index(), false));
  check_way(report, stepped, "graphs", gpu_step_device(device.index(), true));
}

void check_size(Report& report, at::Device device, const std::string& size, const CheckedType& type,
                std::vector<std::int32_t> batches) {
  report.attempt("step", size + " " + type.name(), [&] {
    const bool small = size == kSmallName;
    at::manual_seed(20251121);
    check_model(
        report, device,
        {.name = size,
         .model = WhisperModel::random(small ? kSmall : dims_named(size), device, type.type, small ? at::kCPU : device),
         .batches = std::move(batches),
         .tolerance = type.tolerance});
  });
}

}  // namespace

void check_steps(Report& report, at::Device device, const CheckOptions& options) {
  const c10::InferenceMode no_autograd;
  auto types = compute_types(device, options.types);
  // On a CPU it is computed in float32, on the path of a GPU.
  const bool named = std::ranges::find(options.types, "float16") != options.types.end();
  if (device.is_cpu() && (options.types.empty() || named)) types.push_back({ComputeType::float16, 1e-2});
  for (const auto& type : types) check_size(report, device, kSmallName, type, kSmallBatches);
  auto sizes = options.sizes;
  if (sizes.empty() && device.is_cuda()) sizes = {"large-v3"};
  for (const auto& size : sizes) {
    for (const auto& type : types) check_size(report, device, size, type, slots_on(device, options));
  }
}

}  // namespace tutti
