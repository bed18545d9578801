#include "train/plan/training_plan.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "base/field_names.h"
#include "base/json.h"
#include "base/try.h"
#include "recipe/training_fields.h"
#include "recipe/vocoder_recipe.h"
#include "train/parameter.h"
#include "train/plan/dry_run.h"
#include "train/plan/plan_text.h"
#include "train/plan/training_memory.h"
#include "train/vocoder/network.h"
#include "train/vocoder/task.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kFloat = 4;  // bytes

/// A plan in numbers.
struct Plan {
  VoiceMelOptions mel = usual_voice_mel(Hertz{22050});
  bool has_set = false;
  VocoderShape shape{.width = VocoderRecipe{}.network.width, .layers = VocoderRecipe{}.network.layers};
  DryRun run{};
};

/// What a step holds of one crop at most: what the backward pass needs of the blocks and of the loss, and the gradients
/// at work beside that.
Bytes activations_of(const VocoderShape& shape, const VoiceMelOptions& mel) {
  constexpr std::int64_t kKernelTaps = 7;  // of the first convolution, which gathers them
  constexpr std::int64_t kOfBlock = 9;     // times the width: input, both sides of the norm, three times both of a GELU
  // Times the bins: filters, the spectra of two sources and of four resolutions, magnitudes, logarithms, differences.
  constexpr std::int64_t kOfLoss = 48;
  const auto frame = kKernelTaps * shape.mels + (2 + kOfBlock * shape.layers) * shape.width + kOfLoss * shape.bins;
  return Bytes{kFloat * vocoder_crop_frames(mel) * frame};
}

std::int64_t parameters_of(const VocoderShape& shape) {
  return parameter_count(new_vocoder_network(shape, std::nullopt, at::kMeta).all);
}

std::vector<PlannedTraining> planned(const Plan& plan, const std::vector<PlannedGpu>& gpus) {
  const auto crop = (plan.shape.mels + 1) * vocoder_crop_frames(plan.mel) + 3 * vocoder_crop_samples(plan.mel);
  const CountedMemory memory{
      .fixed = network_state(parameters_of(plan.shape), /*ema=*/false),
      .ring_sample = Bytes{kFloat * crop},
      .activations = verified(activations_of(plan.shape, plan.mel), plan.run.held, plan.run.computed)};
  std::vector<PlannedTraining> all;
  for (const auto& gpu : gpus)
    all.push_back({gpu, "", memory, fit_batch(gpu.memory, memory, {.ring_depth = kUsualRingDepth})});
  return all;
}

/// Steps over crops, by the loss that VocoderTask has.
DryRun dry_run_of(const VocoderShape& shape, const VoiceMelOptions& mel) {
  constexpr std::int64_t kCrops = 8;
  auto network = new_vocoder_network(shape, /*seed=*/1, at::kCPU);
  for (auto& weight : network.all) weight.value.set_requires_grad(true);
  const VocoderLoss losses(mel, at::kCPU);
  const auto inputs = [&](std::int64_t rows) -> std::vector<at::Tensor> {
    const auto frames = vocoder_crop_frames(mel);
    const auto samples = at::full({rows, vocoder_crop_samples(mel)}, 0.1);
    return {at::zeros({rows, frames, shape.mels}), samples, samples, samples, at::full({rows, frames}, 200.0)};
  };
  const auto loss = [&](const std::vector<at::Tensor>& in) { return losses(network, in).sum(); };
  return dry_run(network.all, {inputs, loss}, kCrops, activations_of(shape, mel));
}

Result<Plan> plan_of(const TrainingPlanRequest& request) {
  Plan plan{.has_set = !request.data.empty()};
  if (plan.has_set) {
    const auto data = TRY(VocoderData::open(request.data));
    plan.mel = data.set->format().mel;
  }
  plan.shape.mels = plan.mel.n_mels;
  plan.shape.bins = plan.mel.n_fft / 2 + 1;
  plan.run = dry_run_of(plan.shape, plan.mel);
  return plan;
}

std::string json_text(const Plan& plan, const std::vector<PlannedGpu>& gpus) {
  Json json{{"train", kVocoderTraining},
            {"parameters", parameters_of(plan.shape)},
            {"frames", vocoder_crop_frames(plan.mel)},
            {"rate", plan.mel.rate.value}};
  for (const auto& one : planned(plan, gpus)) json["gpus"].push_back(json_of(one, kUsualRingDepth));
  json["dry_run"] = json_of(plan.run, "crops");
  return json_line(json) + "\n";
}

std::string people_text(const Plan& plan, const std::vector<PlannedGpu>& gpus) {
  return "a vocoder of " + std::to_string(parameters_of(plan.shape)) + " parameters; crops of " +
         std::to_string(vocoder_crop_frames(plan.mel)) + " frames at " + std::to_string(plan.mel.rate.value) + " Hz" +
         (plan.has_set ? "\n\n" : " (" + field("data") + " SET plans for yours)\n\n") +
         batch_table(planned(plan, gpus)) + "\n" + kColumnsText +
         dry_run_text(plan.run, "a step of this network", "crops");
}

}  // namespace

Result<std::string> plan_vocoder(const TrainingPlanRequest& request) {
  const auto plan = TRY(plan_of(request));
  return request.json ? json_text(plan, request.gpus) : people_text(plan, request.gpus);
}

}  // namespace tutti
