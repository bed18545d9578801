#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "checks.h"
#include "worker/compute_type.h"

namespace tutti {
namespace {

/// Logits of a prefill and of one step after it, on the CPU.
at::Tensor logits_of(const WhisperModel& model) {
  const c10::InferenceMode no_autograd;
  const auto window = model.cross_kv(model.encode(test_mel(model.dims())));
  auto cache = model.make_self_kv(1);
  const std::vector<std::int32_t> prompt{50257, 50363, 400, 1010};
  const std::vector<std::int32_t> next{2020};
  const SequenceStep prefill{.tokens = prompt, .window = &window};
  const auto first = model.decode({&prefill, 1}, cache).to(at::kCPU, ComputeType::float32);
  const SequenceStep step{.position = 4, .tokens = next, .window = &window};
  return at::cat({first, model.decode({&step, 1}, cache).to(at::kCPU, ComputeType::float32)});
}

void compare(Report& report, const std::string& what, const at::Tensor& found, const at::Tensor& wanted,
             const CheckedType& type) {
  const double error = ((found - wanted).norm() / wanted.norm()).item<double>();
  report.add({.check = "parity",
              .what = what + " " + type.name() + ", logits",
              .value = error,
              .unit = "relative error",
              .passed = error <= type.tolerance});
}

}  // namespace

at::Tensor test_mel(const WhisperDims& dims) {
  const auto frames = at::arange(2 * dims.n_audio_ctx, at::kFloat);
  const auto bins = at::arange(dims.n_mels, at::kFloat).unsqueeze(1);
  return at::sin(frames * 0.05 + bins * 0.3) * at::cos(frames * 0.013);
}

WhisperModel small_random_model(at::Device device, ComputeType type) {
  constexpr WhisperDims kSmall{.n_audio_ctx = 200,
                               .n_audio_state = 128,
                               .n_audio_head = 2,
                               .n_audio_layer = 2,
                               .n_vocab = 51864,
                               .n_text_state = 128,
                               .n_text_head = 2,
                               .n_text_layer = 2};
  at::manual_seed(20251121);  // the same weights for all
  return WhisperModel::random(kSmall, device, type);
}

std::vector<CheckedType> compute_types(at::Device device, const std::vector<std::string>& names) {
  const auto ability = ability_of(device);
  std::vector<CheckedType> types;
  for (const CheckedType& checked :
       {CheckedType{ComputeType::float32, 1e-4}, CheckedType{ComputeType::tf32, 1e-2},
        CheckedType{ComputeType::bfloat16, 5e-2}, CheckedType{ComputeType::float16, 1e-2},
        CheckedType{ComputeType::int8, 5e-2}, CheckedType{ComputeType::int8_float16, 5e-2}}) {
    if (!names.empty() && std::ranges::find(names, checked.name()) == names.end()) continue;
    const bool has = choose_compute_type(checked.name(), ability)->why.empty();
    if (has || (!ability.cuda && checked.type == ComputeType::int8_float16)) types.push_back(checked);
  }
  return types;
}

void check_parity(Report& report, at::Device device, const CheckOptions& options) {
  const auto& model = options.model;
  const auto wanted = logits_of(small_random_model(at::kCPU, ComputeType::float32));
  for (const auto& type : compute_types(device, options.types)) {
    report.attempt("parity", "random weights " + type.name(), [&] {
      compare(report, "random weights", logits_of(small_random_model(device, type.type)), wanted, type);
    });
  }
  check_alignments(report, device, compute_types(device, options.types));
  if (!model) return report.note("parity with real weights was not checked: no --model DIR");
  const auto reference = WhisperModel::load(*model, at::kCPU, ComputeType::float32);
  if (!reference) {
    report.note(reference.error().text());
    return report.add({.check = "parity", .what = "real weights", .unit = "could be loaded", .passed = false});
  }
  const auto expected = logits_of(*reference);
  for (const auto& type : compute_types(device, options.types)) {
    report.attempt("parity", "real weights " + type.name(), [&] {
      const auto loaded = WhisperModel::load(*model, device, type.type);
      if (loaded) return compare(report, "real weights", logits_of(*loaded), expected, type);
      report.note(loaded.error().text());
      report.add(
          {.check = "parity", .what = "real weights " + type.name(), .unit = "could be loaded", .passed = false});
    });
  }
}

}  // namespace tutti
