#include "worker/self_test.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/try.h"
#include "decode/stepper.h"
#include "model/gpu.h"
#include "worker/compute_type.h"

namespace tutti {
namespace {

constexpr std::int32_t kPositions = 8;  // that steps are timed at; every model has them
constexpr std::array kFaster{ComputeType::tf32, ComputeType::bfloat16, ComputeType::float16, ComputeType::int8,
                             ComputeType::int8_float16};

/// A window that looks like speech from afar: a band that wanders up and down, with pauses.
at::Tensor made_up_mel(const WhisperDims& dims) {
  const std::int64_t frames = 2 * dims.n_audio_ctx;
  const auto time = at::arange(frames, at::TensorOptions(at::kFloat)).mul_(0.01);
  const auto bins = at::arange(dims.n_mels, at::TensorOptions(at::kFloat)).unsqueeze_(1).div_(dims.n_mels);
  const auto centre = at::sin(time * 3).mul_(0.2).add_(0.35);
  const auto loudness = at::sin(time * 9).clamp_(0, 1);
  return at::exp(at::square((bins - centre) / 0.08).neg_()).mul_(loudness).mul_(1.8).sub_(0.8).contiguous();
}

/// What a network makes of the window, as float32 on the CPU.
struct Results {
  at::Tensor encoded{};
  at::Tensor logits{};
};

double cosine(const at::Tensor& a, const at::Tensor& b) {
  const auto x = a.flatten().to(at::kDouble);
  const auto y = b.flatten().to(at::kDouble);
  return (x.dot(y) / (x.norm() * y.norm())).item<double>();
}

/// One step of eight sequences that hold `position` tokens each.
void step(Stepper& stepper, const CrossKv& window, std::int32_t position) {
  constexpr std::int32_t token = 100;
  std::vector<SequenceStep> steps;
  for (std::int32_t slot = 0; slot < kTimedTogether; ++slot) {
    steps.push_back({.slot = slot, .position = position, .tokens = std::span(&token, 1), .window = &window});
  }
  stepper.decode(steps);
}

/// The logits of one sequence, after the last of eight tokens.
at::Tensor logits_after_prompt(Stepper& stepper, const CrossKv& window) {
  std::vector<std::int32_t> tokens(8);
  std::iota(tokens.begin(), tokens.end(), 100);
  const SequenceStep prompt{.tokens = tokens, .window = &window};
  return stepper.decode(std::span(&prompt, 1)).clone();
}

/// The type's trial without its likeness, and what it computed.
TypeTrial time_network(const WhisperModel& model, Results& results) {
  const auto mel = made_up_mel(model.dims());
  CrossKv window;
  const auto encode = [&] {
    const auto encoded = model.encode(mel);
    window = model.cross_kv(encoded);
    results.encoded = encoded.to(at::kCPU, at::kFloat);
  };
  std::optional<ModelStepper> stepper;  // made once the encoder has given its memory back
  std::int32_t position = 0;
  const auto next_step = [&] {
    if (!stepper) {
      stepper.emplace(model, kTimedTogether, usual_steps(model.device()));
      results.logits = logits_after_prompt(*stepper, window);
    }
    step(*stepper, window, position++ % kPositions);
  };
  const auto seconds = window_time(encode, next_step);
  return {.type = model.type(), .seconds = seconds.count()};
}

struct Tried {
  TypeTrial trial{};
  Results results{};
};

/// The trial of a type that memory did not last for: it fails, whatever the limit.
Tried without_memory(ComputeType type) {
  return {.trial = {.type = type, .likeness = std::numeric_limits<double>::quiet_NaN(), .no_memory = true}};
}

/// Nothing where the type is left out.
Result<std::optional<Tried>> try_type(const std::filesystem::path& model, at::Device device, ComputeType type) {
  try {
    const auto network = TRY(WhisperModel::load(model, device, type));
    Tried tried;
    tried.trial = time_network(network, tried.results);
    return tried;
  } catch (...) {
    const auto fault = caught_fault(("the self-test of " + std::string(type.name())).c_str());
    if (!can_leave_out(type, fault)) throw;
    if (type != ComputeType::float32) log(Level::warning, fault.error.what + "; it is left out");
    return fault.out_of_memory ? std::optional(without_memory(type)) : std::nullopt;
  }
}

constexpr double kTokens = 100;  // tokens of a window of speech
constexpr double kStepsOfWindow = kTokens / kTimedTogether;
constexpr Seconds kBudget{0.5};  // calls that are short are repeated for so long

/// The shortest of at least `least` calls, the first one, which warms up, not counted.
Seconds fastest(const std::function<void()>& call, int least, const Clock& clock) {
  Seconds best{std::numeric_limits<double>::infinity()};
  const auto first = clock.now();
  auto begun = first;
  for (int i = 0; i <= least || begun - first < kBudget; ++i) {
    call();
    const auto ended = clock.now();
    if (i > 0) best = std::min(best, Seconds(ended - begun));
    begun = ended;
  }
  return best;
}

}  // namespace

double lesser_likeness(double one, double other) {
  return std::isnan(one) || one < other ? one : other;
}

Seconds window_time(const std::function<void()>& encode, const std::function<void()>& step, const Clock& clock) {
  constexpr int kEncodings = 2;
  const auto encoding = fastest(encode, kEncodings, clock);
  return encoding + kStepsOfWindow * fastest(step, static_cast<int>(std::ceil(kStepsOfWindow)), clock);
}

double time_of_window(const WhisperModel& model) {
  const c10::InferenceMode no_autograd;
  Results results;
  return time_network(model, results).seconds;
}

bool can_leave_out(ComputeType type, const CaughtFault& fault) {
  return type == ComputeType::float32 ? fault.out_of_memory : !fault.fatal;
}

Result<std::vector<TypeTrial>> try_types(const std::filesystem::path& model, at::Device device,
                                         const DeviceAbility& ability) {
  const c10::InferenceMode no_autograd;
  std::vector<ComputeType> types{ComputeType::float32};
  for (const ComputeType type : kFaster) {
    const auto choice = choose_compute_type(std::string(type.name()), ability);
    if (choice && choice->why.empty()) types.push_back(type);
  }
  std::vector<TypeTrial> trials;
  Results truth;
  for (const ComputeType type : types) {
    auto tried = try_type(model, device, type);
    if (device.is_cuda()) gpu::release_cached_memory();  // what torch keeps would count as taken
    if (!tried) return tl::unexpected<Error>(tried.error());
    if (!*tried) continue;
    const auto& results = (*tried)->results;
    const bool no_memory = (*tried)->trial.no_memory;
    if (no_memory && trials.empty()) return fail(Fault::exhausted, "memory does not last for the self-test");
    if (trials.empty()) truth = results;
    trials.push_back((*tried)->trial);
    if (no_memory) continue;
    trials.back().likeness =
        lesser_likeness(cosine(results.encoded, truth.encoded), cosine(results.logits, truth.logits));
  }
  return trials;
}

const TypeTrial& fastest_alike(std::span<const TypeTrial> trials) {
  const TypeTrial* best = &trials.front();
  for (const auto& trial : trials) {
    if (trial.likeness >= kAlike && trial.seconds < best->seconds) best = &trial;
  }
  return *best;
}

}  // namespace tutti
