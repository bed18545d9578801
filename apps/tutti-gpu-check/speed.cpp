#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "checks.h"
#include "model/gpu.h"
#include "model/gpu/tf32.h"
#include "model/work.h"
#include "worker/caught_fault.h"

namespace tutti {
namespace {

struct Size {
  const char* name;
  std::int32_t state;
  std::int32_t heads;
  std::int32_t layers;  // of the encoder
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
constexpr std::int32_t kBefore = 100;  // tokens a sequence holds already
constexpr double kTokens = 100;        // of a window of speech
constexpr double kWindow = 30;         // seconds

WhisperDims dims_of(const Size& size) {
  return {.n_mels = size.n_mels,
          .n_audio_state = size.state,
          .n_audio_head = size.heads,
          .n_audio_layer = size.layers,
          .n_vocab = size.n_vocab,
          .n_text_state = size.state,
          .n_text_head = size.heads,
          .n_text_layer = size.text_layers};
}

class Measurement {
 public:
  Measurement(Report& report, at::Device device, const Size& size, ComputeType type)
      : report_(report),
        device_(device),
        type_(type),
        name_(std::string(size.name) + " " + std::string(type.name())),
        network_(make_network(WhisperModel::random(dims_of(size), device, type))) {}

  void encoder(const Peaks& peaks) {
    const auto& dims = network_->dims();
    mel_ = at::zeros({dims.n_mels, 2 * dims.n_audio_ctx});
    windows_a_second_ = rate_of(least(), [&] { network_->encode(mel_); });
    add(", encoder", windows_a_second_, "windows/s");
    add(", encoder", windows_a_second_ * work_of(dims).window_flops / peaks.flops, "of a product");
  }

  void decoder(std::int32_t together, const Peaks& peaks) {
    while (windows_.size() < static_cast<std::size_t>(together)) windows_.push_back(network_->encode(mel_));
    const auto stepper = network_->make_stepper(together);
    const std::vector<std::int32_t> before(kBefore, 440);
    constexpr std::int32_t kLast = kBefore - 1;
    std::vector<SequenceStep> steps;
    for (std::int32_t slot = 0; slot < together; ++slot) {
      const SequenceStep prompt{.slot = slot, .tokens = before, .window = window_of(slot), .logits_at = {&kLast, 1}};
      stepper->decode({&prompt, 1});
      steps.push_back({.slot = slot, .position = kBefore, .tokens = {before.data(), 1}, .window = window_of(slot)});
    }
    const double alone = rate_of(least(), [&] {
      stepper->decode_there(steps);
      if (device_.is_cuda()) gpu::synchronize(device_.index());
    });
    // On a GPU the rules wait for the step and the step for the rules.
    GreedySelection rules(static_cast<std::size_t>(together));
    const double rate =
        device_.is_cuda() ? rate_of(least(), [&] { rules.select_tokens(stepper->decode_there(steps)); }) : alone;
    const auto what = ", decoder, " + std::to_string(together) + " together";
    add(what, together * rate, "tokens/s");
    const auto read = step_bytes(network_->dims(), device_, type_);
    add(what, alone * (read.weights + together * (read.window + kBefore * read.token)) / peaks.bandwidth, "of a copy");
    add(what, kWindow / (1 / windows_a_second_ + kTokens / (together * rate)), "x real time");
  }

 private:
  Seconds least() const { return Seconds(device_.is_cuda() ? 1.0 : 0.3); }
  const CrossKv* window_of(std::int32_t slot) const { return &windows_[static_cast<std::size_t>(slot)]; }
  void add(const std::string& what, double value, const char* unit) {
    report_.add({.check = "speed", .what = name_ + what, .value = value, .unit = unit});
  }

  Report& report_;
  at::Device device_;
  ComputeType type_;
  std::string name_;
  std::unique_ptr<Network> network_;
  at::Tensor mel_{};
  double windows_a_second_ = 0;
  std::vector<CrossKv> windows_{};  // one for each sequence: they share nothing that a cache could keep
};

/// What matrices of a compute type are multiplied in.
at::ScalarType matrix_type(ComputeType type, at::Device device) {
  if (device.is_cuda()) return layout_of(type, device).activations;
  return type.keeps_float32() ? at::kFloat : at::kBFloat16;
}

/// A size that memory does not last for is a remark, and whatever else ends it a fault.
void measure_size(Report& report, at::Device device, const Size& size, const CheckedType& type, const Peaks& peaks) {
  const auto what = std::string(size.name) + " " + type.name();
  const std::vector<std::int32_t> batches =
      device.is_cuda() ? std::vector<std::int32_t>{1, 8, 32, 64} : std::vector<std::int32_t>{1, 8};
  report.attempt("speed", what, [&] {
    try {
      Measurement measurement(report, device, size, type.type);
      measurement.encoder(peaks);
      for (const auto together : batches) measurement.decoder(together, peaks);
    } catch (...) {
      const auto fault = caught_fault((what + " did not run to its end").c_str());
      if (!fault.out_of_memory) throw;
      report.note(fault.error.what);
    }
  });
}

/// What the device does at best in the type, and every size beside it.
void measure_type(Report& report, at::Device device, const CheckedType& type, bool all) {
  const Tf32Scope rounds(type.type == ComputeType::tf32);
  const auto peaks = measure_peaks(device, matrix_type(type.type, device));
  report.add({.check = "peak", .what = type.name() + ", a product", .value = peaks.flops / 1e12, .unit = "TFLOP/s"});
  report.add({.check = "peak", .what = type.name() + ", a copy", .value = peaks.bandwidth / 1e9, .unit = "GB/s"});
  for (const auto& size : kSizes) {
    if (all || size.layers <= 6) measure_size(report, device, size, type, peaks);
  }
}

}  // namespace

void measure_speed(Report& report, at::Device device, bool all) {
  const c10::InferenceMode no_autograd;
  for (const auto& type : compute_types(device)) {
    // On a CPU it is there to be checked, by plain loops.
    if (device.is_cpu() && type.type == ComputeType::int8_float16) continue;
    report.attempt("speed", type.name(), [&] { measure_type(report, device, type, all); });
  }
}

}  // namespace tutti
