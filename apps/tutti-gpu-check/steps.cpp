#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <iterator>
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
const std::vector<std::int32_t> kBatchesOfLoops{1, 3, 13};  // on a CPU, where tests have the others

constexpr std::int32_t kUsualBeams = 5;
constexpr std::int32_t kPrompts[] = {4, 32};  // tokens

/// Sequences of different lengths in two caches, stepped in one by static steps and in the other by the model.
class TwoWays {
 public:
  /// slots: sequences at most.
  TwoWays(const WhisperModel& model, std::int32_t slots, StepDevice device)
      : model_(model),
        fixed_(model.make_self_kv(slots + 1)),
        eager_(model.make_self_kv(slots)),
        beams_(device.beams),
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

  /// One more token for so many sequences, of which the last begins again with a prompt of so many tokens where there
  /// are several: how far apart the logits are; none where static steps are off.
  std::optional<double> step(std::int32_t count, std::int32_t prompt = 1) {
    const std::vector<std::int32_t> tokens(static_cast<std::size_t>(prompt), 1000 + lengths_.front());
    if (prompt > 1) lengths_[static_cast<std::size_t>(count - 1)] = 0;
    std::vector<SequenceStep> steps;
    for (std::int32_t slot = 0; slot < count; ++slot) {
      auto& length = lengths_[static_cast<std::size_t>(slot)];
      const auto appended = std::span(tokens).first(slot + 1 < count ? 1 : tokens.size());
      steps.push_back({.slot = slot, .position = length, .tokens = appended, .window = window_of(slot)});
      length += static_cast<std::int32_t>(appended.size());
    }
    const auto found = steps_.decode(steps);
    const auto wanted = model_.decode(steps, eager_);
    return found ? std::optional(step_distance(*found, wanted)) : std::nullopt;
  }

 private:
  const CrossKv* window_of(std::int32_t slot) const { return &windows_[static_cast<std::size_t>(slot / beams_ % 3)]; }

  const WhisperModel& model_;
  SelfKv fixed_;
  SelfKv eager_;
  std::int32_t beams_;
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
void check_way(Report& report, const SteppedModel& stepped, const std::string& way, const StepDevice& device) {
  const auto type = stepped.model.type();
  const auto what = stepped.name + " " + std::string(type.name()) + ", " + way + " against eager, logits";
  report.attempt("step", what, [&] {
    double worst = 0;
    for (int stepper = 0; stepper < 2; ++stepper) {
      const auto most = std::ranges::max(stepped.batches);
      TwoWays ways(stepped.model, most, device);
      const auto compare = [&](std::int32_t count, std::int32_t prompt) {
        ways.step(count, prompt);  // the first use compares by itself
        const auto apart = ways.step(count, prompt);
        if (apart) worst = farther(*apart, worst);
      };
      for (const auto count : stepped.batches) compare(count, 1);
      for (const auto prompt : std::span(kPrompts).first(stepped.model.device().is_cpu() ? 1 : std::size(kPrompts)))
        compare(most, prompt);
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

/// beams: of the searches whose windows are read once.
void check_model(Report& report, at::Device device, const SteppedModel& stepped, std::int32_t beams) {
  if (!StaticStep::fits(stepped.model)) return;
  const auto ways = [&](const std::string& of, std::int32_t together) {
    if (device.is_cpu()) return check_way(report, stepped, of + "host kernels", {.beams = together});
    for (const bool graphs : {false, true}) {
      auto steps = gpu_step_device(device.index(), graphs);
      steps.beams = together;
      check_way(report, stepped, of + (graphs ? "graphs" : "kernels"), steps);
    }
  };
  ways("", 1);
  ways(std::to_string(beams) + " beams, ", beams);
}

void check_size(Report& report, at::Device device, const std::string& size, const CheckedType& type,
                std::vector<std::int32_t> batches, std::int32_t beams) {
  report.attempt("step", size + " " + type.name(), [&] {
    const bool small = size == kSmallName;
    at::manual_seed(20251121);
    check_model(
        report, device,
        {.name = size,
         .model = WhisperModel::random(small ? kSmall : dims_named(size), device, type.type, small ? at::kCPU : device),
         .batches = std::move(batches),
         .tolerance = type.tolerance},
        beams);
  });
}

}  // namespace

void check_steps(Report& report, at::Device device, const CheckOptions& options) {
  const c10::InferenceMode no_autograd;
  auto types = compute_types(device, options.types);
  // On a CPU it is computed in float32, on the path of a GPU.
  const bool named = std::ranges::find(options.types, "float16") != options.types.end();
  if (device.is_cpu() && (options.types.empty() || named)) types.push_back({ComputeType::float16, 1e-2});
  const auto& batches = device.is_cpu() ? kBatchesOfLoops : kSmallBatches;
  const auto beams = options.beams > 1 ? options.beams : kUsualBeams;
  for (const auto& type : types) check_size(report, device, kSmallName, type, batches, beams);
  auto sizes = options.sizes;
  if (sizes.empty() && device.is_cuda()) sizes = {"large-v3"};
  for (const auto& size : sizes) {
    for (const auto& type : types) check_size(report, device, size, type, slots_on(device, options), beams);
  }
}

}  // namespace tutti
