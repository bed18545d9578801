#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <functional>

#include "base/clock.h"
#include "base/units.h"
#include "checks.h"

namespace tutti {
namespace {

struct Size {
  const char* name;
  std::int32_t state;
  std::int32_t heads;
  std::int32_t layers;
  std::int32_t n_mels = 80;
  std::int32_t n_vocab = 51865;
};

constexpr Size kSizes[] = {{"tiny", 384, 6, 4},
                           {"base", 512, 8, 6},
                           {"small", 768, 12, 12},
                           {"medium", 1024, 16, 24},
                           {"large-v3", 1280, 20, 32, 128, 51866}};

WhisperDims dims_of(const Size& size) {
  return {.n_mels = size.n_mels,
          .n_audio_state = size.state,
          .n_audio_head = size.heads,
          .n_audio_layer = size.layers,
          .n_vocab = size.n_vocab,
          .n_text_state = size.state,
          .n_text_head = size.heads,
          .n_text_layer = size.layers};
}

/// Calls a second, after one call to warm up; at least three calls and one second. `call` waits for the device.
double rate_of(const std::function<void()>& call) {
  call();
  const auto begun = Clock::real().now();
  Seconds taken{};
  int calls = 0;
  while (calls < 3 || taken < Seconds(1)) {
    call();
    ++calls;
    taken = Clock::real().now() - begun;
  }
  return calls / taken.count();
}

void measure(Report& report, at::Device device, const Size& size, const CheckedType& type) {
  const auto name = std::string(size.name) + " " + type.name();
  const auto network = make_network(WhisperModel::random(dims_of(size), device, type.type));
  const auto mel = at::zeros({size.n_mels, 2 * network->dims().n_audio_ctx});
  CrossKv window;
  report.add({.check = "speed",
              .what = name + ", encoder",
              .value = rate_of([&] { window = network->encode(mel); }),
              .unit = "windows/s"});

  const std::int32_t together = device.is_cuda() ? 32 : 8;
  const auto stepper = network->make_stepper(together);
  const std::vector<std::int32_t> before(100, 440);
  std::vector<SequenceStep> steps;
  for (std::int32_t slot = 0; slot < together; ++slot)
    steps.push_back({.slot = slot, .tokens = before, .window = &window});
  constexpr std::int32_t kLast = 99;
  for (auto& step : steps) step.logits_at = {&kLast, 1};
  stepper->decode(steps);
  const std::int32_t token = 440;
  for (auto& step : steps) step = {.slot = step.slot, .position = 100, .tokens = {&token, 1}, .window = &window};
  report.add({.check = "speed",
              .what = name + ", decoder, " + std::to_string(together) + " together",
              .value = together * rate_of([&] { stepper->decode(steps); }),
              .unit = "tokens/s"});
}

}  // namespace

void measure_speed(Report& report, at::Device device, bool all) {
  const c10::InferenceMode no_autograd;
  for (const auto& size : kSizes) {
    if (!all && size.layers > 6) continue;
    for (const auto& type : compute_types(device)) {
      try {
        measure(report, device, size, type);
      } catch (const std::exception& error) {
        report.note(std::string(size.name) + " " + type.name() +
                    " did not run: " + std::string(error.what()).substr(0, 160));
      }
    }
  }
}

}  // namespace tutti
