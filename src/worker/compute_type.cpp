#include "worker/compute_type.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/instruction_sets.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/sha256.h"
#include "base/try.h"
#include "decode/stepper.h"
#include "device/machine.h"
#include "model/decoder_step/step_device.h"
#include "model/device_name.h"
#include "model/gpu.h"
#include "worker/cuda_driver.h"
#include "worker/self_test.h"

namespace tutti {
namespace {

constexpr int kTuring = 75;
constexpr int kAmpere = 80;

/// The next best type and the reason, where the device does not have this one.
std::optional<ComputeChoice> next_best(ComputeType type, const DeviceAbility& device) {
  switch (type.kind()) {
    case ComputeType::float32: return {};
    case ComputeType::tf32:
      if (device.cuda && device.capability >= kAmpere) return {};
      return ComputeChoice{ComputeType::float32, device.cuda ? "GPUs before Ampere have no TF32" : "CPUs have no TF32"};
    case ComputeType::bfloat16:
      if (!device.cuda || device.capability >= kAmpere) return {};
      return ComputeChoice{ComputeType::float16, "GPUs before Ampere have no bfloat16"};
    case ComputeType::float16:
      if (device.cuda) return {};
      return ComputeChoice{ComputeType::float32, "CPUs do not compute in float16"};
    case ComputeType::int8:
      if (device.cuda) return ComputeChoice{ComputeType::int8_float16, "on a GPU int8 goes with float16"};
      if (device.own_kernels) return {};
      return ComputeChoice{ComputeType::float32, "int8 needs a CPU with AVX2"};
    case ComputeType::int8_float16:
      if (!device.cuda) return ComputeChoice{ComputeType::int8, "CPUs do not compute in float16"};
      if (device.capability >= kTuring) return {};
      return ComputeChoice{ComputeType::float16, "GPUs before Turing have no int8 products"};
  }
  return {};
}

}  // namespace

DeviceAbility ability_of(at::Device device) {
  if (!device.is_cuda()) return {.own_kernels = layout_of(ComputeType::int8, device).own_kernels};
  const auto facts = gpu::facts(index_of(device));
  return {.cuda = true, .capability = facts ? facts->capability : 0};
}

Result<ComputeChoice> choose_compute_type(const std::string& name, const DeviceAbility& device) {
  const auto requested = ComputeType::named(name);
  if (!requested) {
    return fail(Fault::usage, "compute type " + name + " is not known",
                "Use auto, float32, tf32, bfloat16, float16, int8 or int8_float16");
  }
  ComputeChoice choice{*requested};
  while (auto next = next_best(choice.type, device)) {
    choice = {next->type, choice.why.empty() ? next->why : choice.why + "; " + next->why};
  }
  return choice;
}

namespace {

/// Sizes and times of the model's files: another content is another model.
std::string state_of(const std::filesystem::path& model) {
  std::error_code ignored;
  std::vector<std::string> files;
  const auto add = [&](const std::filesystem::path& file) {
    const auto time = std::filesystem::last_write_time(file, ignored).time_since_epoch().count();
    files.push_back(file.filename().string() + " " + std::to_string(std::filesystem::file_size(file, ignored)) + " " +
                    std::to_string(time));
  };
  if (std::filesystem::is_directory(model)) {
    for (const auto& entry : std::filesystem::directory_iterator(model, ignored)) {
      if (entry.is_regular_file(ignored)) add(entry.path());
    }
  } else {
    add(model);
  }
  std::ranges::sort(files);
  std::string state = std::filesystem::weakly_canonical(model, ignored).string();
  for (const auto& file : files) state += "\n" + file;
  return state;
}

std::filesystem::path result_file(const SelfTestScope& scope) {
  const std::string key = scope.device + "\n" + scope.build + "\n" + state_of(scope.model);
  return cache_folder() / "self-tests" / sha256_of(key);
}

/// "int8 (12.1 ms a window), the fastest of float32 (80.0 ms), bfloat16 (20.0 ms), ...".
std::string account_of(const TypeTrial& best, std::span<const TypeTrial> trials) {
  const auto timed = [](const TypeTrial& trial) {
    if (trial.no_memory) return "no memory for " + std::string(trial.type.name());
    const bool is_alike = trial.likeness >= kAlike;
    return std::string(trial.type.name()) + " " + fixed_text(trial.seconds * 1000, 1) + " ms" +
           (is_alike ? "" : " but unlike float32");
  };
  std::string account = "fastest in the self-test, per window:";
  for (const auto& trial : trials) account += (&trial == &trials.front() ? " " : ", ") + timed(trial);
  return best.type == ComputeType::float32 && trials.size() == 1 ? "the device has no other" : account;
}

/// A self-test's result as it is on disk: the type's name, a line break, the account.
std::optional<ComputeChoice> remembered(const std::filesystem::path& file) {
  const auto text = read_regular_file(file);
  if (!text) return std::nullopt;
  const auto end = text->find('\n');
  const auto type = ComputeType::named(std::string_view(*text).substr(0, end));
  if (!type || end == std::string::npos) return std::nullopt;
  return ComputeChoice{*type, text->substr(end + 1)};
}

/// The device's usual type. Not remembered: next time there may be more memory.
Result<ComputeChoice> untested(const DeviceAbility& ability, const Error& why) {
  auto usual = choose_compute_type("float16", ability);
  if (usual) usual->why = why.what;
  return usual;
}

}  // namespace

Result<ComputeChoice> automatic_type(const SelfTestScope& scope, at::Device device, const DeviceAbility& ability) {
  const auto file = result_file(scope);
  if (const auto known = remembered(file)) return *known;
  log(Level::info,
      "compute type auto: trying what this device can do with " + scope.model.string() + "; the result is remembered");
  const auto trials = try_types(scope.model, device, ability);
  if (!trials && trials.error().fault == Fault::exhausted) return untested(ability, trials.error());
  if (!trials) return tl::unexpected<Error>(trials.error());
  return conclude(*trials, file);
}

ComputeChoice conclude(std::span<const TypeTrial> trials, const std::filesystem::path& file) {
  const auto& best = fastest_alike(trials);
  ComputeChoice choice{best.type, account_of(best, trials)};
  if (std::ranges::any_of(trials, &TypeTrial::no_memory)) return choice;
  const auto kept = write_file_atomically(file, std::string(choice.type.name()) + "\n" + choice.why);
  if (!kept) log(Level::warning, "the self-test will be made again next time: " + kept.error().text());
  return choice;
}

namespace {

/// The device as a self-test's result depends on it.
std::string self_of(const at::Device& device) {
  if (device.is_cuda()) {
    const auto gpu = visible_cuda_device(index_of(device));
    return gpu ? gpu->name + " driver " + std::to_string(gpu->driver) : device.str();
  }
  const auto cpu = read_cpu();
  std::string self = cpu.model.value_or("CPU") + " " + std::to_string(cpu.cores) + " cores, " +
                     std::to_string(at::get_num_threads()) + " threads";
  for (const auto& feature : cpu.features) self += " " + feature;
  self += ", kernels";
  for (const auto set : usable_instructions().all()) self += " " + std::string(name_of(set));
  return self;
}

}  // namespace

Result<ComputeType> compute_type_for(const std::string& name, const std::filesystem::path& model, at::Device device,
                                     std::string_view build) {
  if (name == "auto") {
    const auto choice = TRY(automatic_type({model, self_of(device), std::string(build)}, device, ability_of(device)));
    log(Level::info, "compute type auto: " + std::string(choice.type.name()) + ", " + choice.why);
    return choice.type;
  }
  const auto choice = TRY(choose_compute_type(name, ability_of(device)));
  if (!choice.why.empty()) {
    log(Level::warning,
        "compute type " + name + ": " + std::string(choice.type.name()) + " is used, because " + choice.why);
  }
  return choice.type;
}

std::optional<StepDevice> usual_steps(at::Device device) {
  if (!device.is_cuda() || excludes_step_kernels()) return {};
  const auto way = way_of_steps();
  if (way != "" && way != "graphs" && way != "kernels" && way != "apart") {
    log(Level::warning, "TUTTI_STEP=" + std::string(way) + " is ignored: expected graphs, apart, kernels or eager");
  }
  return gpu_step_device(index_of(device), way != "kernels");
}

CrossKv made_up_window(const WhisperModel& model) {
  const c10::InferenceMode no_autograd;
  const auto& dims = model.dims();
  return model.cross_kv(model.encode(at::randn({dims.n_mels, 2 * dims.n_audio_ctx})));
}

void try_steps(const WhisperModel& model, const StepDevice& device) {
  const c10::InferenceMode no_autograd;
  const auto window = made_up_window(model);
  const std::int32_t token = model.dims().n_vocab / 2;
  const SequenceStep step{.tokens = {&token, 1}, .window = &window};
  ModelStepper(model, 1, device).decode(std::span(&step, 1));
  const auto& trust = *device.trust;
  log(Level::info, !StaticStep::fits(model) || !trust.kernels ? "decoder steps: torch's operators"
                   : device.recorder && trust.recording       ? "decoder steps: CUDA graphs"
                                                              : "decoder steps: own kernels, not recorded");
}

}  // namespace tutti
