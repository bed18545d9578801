#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "checks.h"
#include "model/checked_encoder.h"
#include "model/gpu.h"
#include "model/gpu/tf32.h"
#include "model/work.h"
#include "worker/caught_fault.h"
#include "worker/compute_type.h"

namespace tutti {
namespace {

struct Size {
  const char* name;
  std::int32_t state;
  std::int32_t heads;
  std::int32_t layers;  // layers of the encoder
  std::int32_t text_layers;
  std::int32_t n_mels = 80;
  std::int32_t n_vocab = 51865;
};

constexpr Size kSizes[] = {{"tiny", 384, 6, 4, 4},
                           {"base", 512, 8, 6, 6},
                           {"small", 768, 12, 12, 12},
                           {"medium", 1024, 16, 24, 24},
                           {"large-v3", 1280, 20, 32, 32, 128, 51866},
                           {"turbo", 1280, 20, 32, 4, 128, 51866}};
static_assert(std::size(kSizes) == std::size(kSizeNames));
constexpr std::int32_t kBefore = 100;              // tokens a sequence holds already
constexpr double kTokens = 100;                    // tokens of a window of speech
constexpr double kWindow = 30;                     // seconds
constexpr std::int32_t kPrompts[] = {4, 32, 224};  // tokens

class Measurement {
 public:
  Measurement(Report& report, at::Device device, const std::string& size, ComputeType type, Seconds least)
      : report_(report),
        device_(device),
        least_(least),
        name_(size + " " + std::string(type.name())),
        model_(WhisperModel::random(dims_named(size), device, type, device)),
        steps_(usual_steps(device)) {}

  void encoder(const Peaks& peaks) {
    const auto& dims = model_.dims();
    mel_ = at::randn({dims.n_mels, 2 * dims.n_audio_ctx});
    windows_a_second_ = rate_of(least_, [&] { encode(); });
    add(", encoder", windows_a_second_, "windows/s");
    add(", encoder", windows_a_second_ * work_of(dims).window_flops / peaks.flops, "of a product");
    if (device_.is_cuda()) encoder_batches(peaks);
  }

  /// Recorded encodings of several windows, as a worker makes them, against those of the windows alone.
  void encoder_batches(const Peaks& peaks) {
    const auto& dims = model_.dims();
    const bool recorded = steps_ && steps_->recorder;
    CheckedEncoder encoder(model_, recorded ? gpu::make_recorder(device_.index()) : nullptr);
    const auto mels = at::randn({CheckedEncoder::kLargest, dims.n_mels, 2 * dims.n_audio_ctx}).pin_memory();
    for (std::int64_t together = 1; together <= CheckedEncoder::kLargest; together *= 2) {
      const double rate = rate_of(least_, [&] {
        encoder.encode(mels.narrow(0, 0, together));
        wait();
      });
      const auto what = ", encoder, " + std::to_string(together) + " together";
      const double windows = static_cast<double>(together) * rate;
      add(what, windows, "windows/s");
      add(what, windows * work_of(dims).window_flops / peaks.flops, "of a product");
      windows_a_second_ = std::max(windows_a_second_, windows);
    }
    const auto batch = encoder.encode(mels);
    double worst = 0;
    bool compared = false;
    for (std::int64_t i = 0; i < mels.size(0); ++i) {
      const auto alone = model_.cross_kv(model_.encode(mels[i]));
      const auto& found = batch[static_cast<std::size_t>(i)].layers.back();
      if (!found.keys.defined()) continue;  // in eight bits: its numbers are not for comparing
      const auto row = [](const at::Tensor& values) { return values.to(at::kFloat).view({1, -1}); };
      compared = true;
      const double apart = step_distance(row(found.values), row(alone.layers.back().values));
      worst = farther(apart, worst);
    }
    if (encoder.records() != recorded)
      report_.add({.check = "speed", .what = name_ + ", encodings", .unit = "are recorded", .passed = false});
    if (!compared) return report_.note(name_ + ": windows in eight bits were not compared with those encoded alone");
    report_.add({.check = "speed",
                 .what = name_ + ", windows encoded together against alone",
                 .value = worst,
                 .unit = "relative error",
                 .passed = worst <= step_tolerance(model_.type())});
  }

  /// How long the prompt of one window takes, behind nothing. beams: as of with_beams; from two on the rows of a short
  /// prompt read their window once.
  void prompts(std::int32_t beams) {
    grow_windows(1);
    ModelStepper stepper(model_, 1, steps_of(beams));
    for (const auto length : kPrompts) {
      const std::vector<std::int32_t> tokens(static_cast<std::size_t>(length), 440);
      const std::int32_t last = length - 1;
      const SequenceStep prompt{.tokens = tokens, .window = windows_.data(), .logits_at = {&last, 1}};
      const double rate = rate_of(least_, [&] {
        stepper.decode_there({&prompt, 1});
        wait();
      });
      add(", prompt of " + std::to_string(length) + " tokens" + (beams > 1 ? ", window read once" : ""), 1000 / rate,
          "ms");
    }
  }

  /// So many windows together; each a greedy sequence, or a search with `beams` beams that read their window once or
  /// apart.
  void decoder(std::int32_t together, std::int32_t beams, const Peaks& peaks, bool apart = false) {
    grow_windows(together);
    SteppedWindows stepped(model_, steps_of(apart ? 1 : beams), windows_, together, beams);
    const auto rows = stepped.rows();
    const double alone = rate_of(least_, [&] {
      stepped.step();
      wait();
    });
    // On a GPU the rules wait for the step and the step for the rules.
    const double rate = device_.is_cuda() ? rate_of(least_, [&] { stepped.step_and_select(); }) : alone;
    const auto what = ", decoder, " + std::to_string(together) + " together" +
                      (beams > 0 ? ", " + std::to_string(beams) + " beams" : "") + (apart ? " apart" : "");
    add(what + ", step", 1000 / alone, "ms");
    add(what + ", step and selection", 1000 / rate, "ms");
    add(what, together * rate, "tokens/s");
    const auto read = step_bytes(model_.dims(), device_, model_.type());
    add(what, alone * (read.weights + together * read.window + rows * kBefore * read.token) / peaks.bandwidth,
        "of a copy");
    add(what, kWindow / (1 / windows_a_second_ + kTokens / (together * rate)), "x real time");
  }

  /// Slower steps than the usual ones are a fault of this build on this device, and figures of them mislead.
  void check_fall_back() const {
    if (!steps_) return;
    const auto& trust = *steps_->trust;
    if (!trust.reason.empty()) report_.note(name_ + ": " + trust.reason);
    report_.add({.check = "speed",
                 .what = name_ + ", first steps against torch's",
                 .value = trust.distance,
                 .unit = "relative error",
                 .passed = !steps_->fell_back()});
  }

 private:
  std::optional<StepDevice> steps_of(std::int32_t beams) const {
    return steps_ ? std::optional(with_beams(*steps_, beams)) : std::nullopt;
  }
  void wait() const {
    if (device_.is_cuda()) gpu::synchronize(device_.index());
  }
  CrossKv encode() const {
    auto window = model_.cross_kv(model_.encode(mel_));
    wait();
    return window;
  }
  /// One for each sequence: they share nothing that a cache could keep.
  void grow_windows(std::int32_t count) {
    while (windows_.size() < static_cast<std::size_t>(count)) windows_.push_back(encode());
  }
  void add(const std::string& what, double value, const char* unit) {
    report_.add({.check = "speed", .what = name_ + what, .value = value, .unit = unit});
  }

  Report& report_;
  at::Device device_;
  Seconds least_;
  std::string name_;
  WhisperModel model_;
  std::optional<StepDevice> steps_;
  at::Tensor mel_{};
  double windows_a_second_ = 0;
  std::vector<CrossKv> windows_{};
};

/// What matrices of a compute type are multiplied in.
at::ScalarType matrix_type(ComputeType type, at::Device device) {
  if (device.is_cuda()) return layout_of(type, device).activations;
  return type.keeps_float32() ? at::kFloat : at::kBFloat16;
}

/// A size that memory does not last for is a remark, and whatever else ends it a fault.
void measure_size(Report& report, at::Device device, const std::string& size, const CheckedType& type,
                  const CheckOptions& options, const Peaks& peaks) {
  const auto what = size + " " + type.name();
  report.attempt("speed", what, [&] {
    try {
      Measurement measurement(report, device, size, type.type,
                              options.seconds.value_or(Seconds(device.is_cuda() ? 1.0 : 0.3)));
      measurement.encoder(peaks);
      measurement.prompts(1);
      if (options.beams > 1 && device.is_cuda()) measurement.prompts(options.beams);
      for (const auto together : slots_on(device, options)) measurement.decoder(together, 0, peaks);
      for (const auto together : slots_on(device, options)) {
        if (options.beams > 0) measurement.decoder(together, options.beams, peaks);
        if (options.beams > 1 && device.is_cuda()) measurement.decoder(together, options.beams, peaks, /*apart=*/true);
      }
      measurement.check_fall_back();
    } catch (...) {
      const auto fault = caught_fault((what + " did not run to its end").c_str());
      if (!fault.out_of_memory) throw;
      report.note(fault.error.what);
    }
  });
  if (device.is_cuda()) gpu::release_cached_memory();
}

/// What the device does at best in the type, and every size beside it.
void measure_type(Report& report, at::Device device, const CheckedType& type, const CheckOptions& options,
                  const std::vector<std::string>& sizes) {
  const Tf32Scope rounds(type.type == ComputeType::tf32);
  const auto peaks = measure_peaks(device, matrix_type(type.type, device));
  report.add({.check = "peak", .what = type.name() + ", a product", .value = peaks.flops / 1e12, .unit = "TFLOP/s"});
  report.add({.check = "peak", .what = type.name() + ", a copy", .value = peaks.bandwidth / 1e9, .unit = "GB/s"});
  for (const auto& size : sizes) measure_size(report, device, size, type, options, peaks);
}

std::vector<std::string> sizes_on(at::Device device, const CheckOptions& options) {
  if (!options.sizes.empty()) return options.sizes;
  if (device.is_cuda() || options.all) return {std::begin(kSizeNames), std::end(kSizeNames)};
  return {"tiny", "base"};
}

}  // namespace

SteppedWindows::SteppedWindows(const WhisperModel& model, const std::optional<StepDevice>& device,
                               std::span<const CrossKv> windows, std::int32_t together, std::int32_t beams)
    : before_(kBefore, 440),
      stepper_(model, together * std::max(beams, 1), device),
      rules_(static_cast<std::size_t>(stepper_.slots()), beams) {
  constexpr std::int32_t kLast = kBefore - 1;
  for (std::int32_t slot = 0; slot < stepper_.slots(); ++slot) {
    const auto* window = &windows[static_cast<std::size_t>(slot / std::max(beams, 1))];
    const SequenceStep prompt{.slot = slot, .tokens = before_, .window = window, .logits_at = {&kLast, 1}};
    stepper_.decode_there({&prompt, 1});
    steps_.push_back({.slot = slot, .position = kBefore, .tokens = {before_.data(), 1}, .window = window});
  }
}

WhisperDims dims_named(const std::string& size) {
  const auto& found = *std::ranges::find_if(kSizes, [&](const Size& one) { return size == one.name; });
  return {.n_mels = found.n_mels,
          .n_audio_state = found.state,
          .n_audio_head = found.heads,
          .n_audio_layer = found.layers,
          .n_vocab = found.n_vocab,
          .n_text_state = found.state,
          .n_text_head = found.heads,
          .n_text_layer = found.text_layers};
}

std::vector<std::int32_t> slots_on(at::Device device, const CheckOptions& options) {
  if (!options.slots.empty()) return options.slots;
  return device.is_cuda() ? std::vector<std::int32_t>{1, 8, 32, 64} : std::vector<std::int32_t>{1, 8};
}

void measure_speed(Report& report, at::Device device, const CheckOptions& options) {
  const c10::InferenceMode no_autograd;
  const auto sizes = sizes_on(device, options);
  for (const auto& type : compute_types(device, options.types)) {
    // On a CPU it is there to be checked, by plain loops.
    if (device.is_cpu() && type.type == ComputeType::int8_float16) continue;
    report.attempt("speed", type.name(), [&] { measure_type(report, device, type, options, sizes); });
  }
}

}  // namespace tutti
