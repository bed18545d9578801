#include "train/plan/training_plan.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/numbers.h"
#include "base/try.h"
#include "device/machine.h"
#include "hub/model_shape.h"
#include "recipe/training_fields.h"
#include "recipe/whisper_recipe.h"
#include "train/plan/dry_run.h"
#include "train/plan/plan_text.h"
#include "train/plan/sample_memory.h"
#include "train/whisper/network/forward.h"
#include "train/whisper/network/parameters.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kGigabyte = 1'000'000'000;
constexpr std::string_view kUsualModel = "small";  // field note 004's
constexpr const char* kCheckpointing = "gradient-checkpointing";

/// Field note 004's ranges for "32GB GPU memory".
struct NoteRange {
  const char* size;
  const char* model;
  std::int64_t least, most;
};
constexpr std::array kNoteRanges{NoteRange{"Small", "small", 48, 64}, NoteRange{"Medium", "medium", 24, 32},
                                 NoteRange{"Large", "large-v3", 12, 16}};
constexpr std::array<std::int64_t, 2> kNoteMemories{32, 16};  // as it claims, and what its RTX 4080 has, GB

/// A plan in numbers.
struct Plan {
  std::string model{};
  WhisperDims dims{};
  std::int64_t ring_depth = kUsualRingDepth;
  WhisperDims tried{};           // the network of the dry runs
  std::array<DryRun, 2> runs{};  // without gradient-checkpointing, and with it
};

/// A window's activations of a network, as the dry run has verified them.
PlannedTraining planned(const Plan& plan, const WhisperDims& dims, bool recompute, const PlannedGpu& gpu) {
  const auto& run = plan.runs[recompute ? 1 : 0];
  const CountedMemory memory{.fixed = network_state(parameters_of(dims), /*ema=*/false),
                             .ring_sample = ring_sample_of(dims),
                             .activations = verified(activations_of(dims, recompute), run.held, run.computed)};
  return {gpu, recompute ? kCheckpointing : "", memory, fit_batch(gpu.memory, memory, {.ring_depth = plan.ring_depth})};
}

std::vector<PlannedTraining> planned(const Plan& plan, const std::vector<PlannedGpu>& gpus) {
  std::vector<PlannedTraining> all;
  for (const auto& gpu : gpus)
    for (const bool recompute : {false, true}) all.push_back(planned(plan, plan.dims, recompute, gpu));
  return all;
}

/// The network itself where a step of it takes seconds and fits, else one as wide of a block each: what is to be
/// verified is what a block holds, and what the logits do.
WhisperDims dims_to_try(const WhisperDims& dims) {
  constexpr std::int64_t kMostParameters = 50'000'000;
  const auto memory = read_memory();
  const auto needed = parameters_of(dims) * 2 * std::int64_t{sizeof(float)} + 3 * activations_of(dims, false).value;
  if (parameters_of(dims) <= kMostParameters && (!memory || needed < memory->available.value)) return dims;
  auto tried = dims;
  tried.n_audio_layer = tried.n_text_layer = 1;
  return tried;
}

/// Steps over windows whose text fills the decoder, as WhisperTask takes them.
DryRun dry_run_of(const WhisperParameters& network, bool recompute) {
  const auto& dims = network.shape.dims;
  const auto inputs = [&](std::int64_t rows) -> std::vector<at::Tensor> {
    return {at::zeros({rows, dims.n_mels, 2 * dims.n_audio_ctx}), at::zeros({rows, dims.n_text_ctx}, at::kLong)};
  };
  const auto loss = [&](const std::vector<at::Tensor>& rows) {
    const ForwardOptions options{.recompute = recompute};
    const auto states = encode(network.weights, dims, rows[0], options);
    const auto logits = decode(network.weights, dims, rows[1], states, options);
    return at::cross_entropy_loss(logits.flatten(0, 1), rows[1].flatten(), {}, at::Reduction::Sum);
  };
  return dry_run(network.all, {inputs, loss}, 1, activations_of(dims, recompute));
}

Result<Plan> plan_of(const std::string& model) {
  const auto shape = model_shape(model);
  if (!shape)
    return fail(Fault::usage, "model '" + model + "': its shape is not known",
                "Name tiny, base, small, medium, large-v3, turbo, or a model's folder");
  Plan plan{.model = model, .dims = dims_of(*shape)};
  plan.tried = dims_to_try(plan.dims);
  auto network = new_parameters(openai_shape(plan.tried), /*seed=*/1, at::kCPU);
  mark_trained(network, /*freeze_encoder=*/false);
  for (const bool recompute : {false, true}) plan.runs[recompute ? 1 : 0] = dry_run_of(network, recompute);
  return plan;
}

/// The largest batch for a size of the note, with gradient-checkpointing as the note has it.
PlannedTraining planned_for_note(const Plan& plan, const NoteRange& range, std::int64_t gigabytes) {
  return planned(plan, dims_of(*model_shape(range.model)), /*recompute=*/true, {"", Bytes{gigabytes * kGigabyte}});
}

std::string json_text(const Plan& plan, const std::vector<PlannedGpu>& gpus) {
  Json json{{"train", kWhisperTraining},
            {"model", plan.model},
            {"parameters", parameters_of(plan.dims)},
            {"window_positions", plan.dims.n_audio_ctx},
            {"tokens", plan.dims.n_text_ctx}};
  for (const auto& batch : planned(plan, gpus)) json["gpus"].push_back(json_of(batch, plan.ring_depth));
  for (const bool recompute : {false, true}) {
    auto run = json_of(plan.runs[recompute ? 1 : 0], "windows");
    run["layers"] = {plan.tried.n_audio_layer, plan.tried.n_text_layer};
    if (recompute) run["with"] = kCheckpointing;
    json["dry_runs"].push_back(run);
  }
  for (const auto& range : kNoteRanges) {
    Json row{{"model", range.model},
             {"memory_bytes", kNoteMemories[0] * kGigabyte},
             {"batch_size", {range.least, range.most}}};
    for (const auto gigabytes : kNoteMemories)
      row["largest_batch"].push_back({{"memory_bytes", gigabytes * kGigabyte},
                                      {"batch_size", planned_for_note(plan, range, gigabytes).batch.batch_size}});
    json["note_004"].push_back(row);
  }
  return json_line(json) + "\n";
}

std::string note_table(const Plan& plan) {
  TextTable table{.columns = {{"field note 004"}, {"its batch_size", true}, {"here", false}}};
  for (const auto gigabytes : kNoteMemories)
    table.columns.push_back({.title = "largest, " + std::to_string(gigabytes) + " GB", .right = true});
  for (const auto& range : kNoteRanges) {
    table.rows.push_back({std::string(range.size) + " model",
                          std::to_string(range.least) + "-" + std::to_string(range.most), range.model});
    for (const auto gigabytes : kNoteMemories)
      table.rows.back().push_back(batch_text(planned_for_note(plan, range, gigabytes).batch));
  }
  return in_lines(table) +
         "\nThe note's ranges are for 32 GB, and the RTX 4080 it names has 16. Its trainer has gradient checkpointing "
         "on,\n"
         "and so have both columns of largest batches.\n";
}

std::string people_text(const Plan& plan, const std::vector<PlannedGpu>& gpus) {
  const auto& d = plan.dims;
  std::string text = "Whisper " + plan.model + ", " + std::to_string(parameters_of(d)) + " parameters; windows of " +
                     std::to_string(d.n_audio_ctx) + " positions with " + std::to_string(d.n_text_ctx) +
                     " tokens, the longest texts there are\n\n";
  text += batch_table(planned(plan, gpus)) + "\n" + kColumnsText;
  const bool whole = plan.tried == plan.dims;
  text += dry_run_text(plan.runs[0], whole ? "a step of this network" : "one encoder and one decoder block", "window");
  text += dry_run_text(plan.runs[1], std::string("the same with --") + kCheckpointing, "window");
  return text + "\n" + note_table(plan);
}

}  // namespace

Result<std::string> plan_whisper(const TrainingPlanRequest& request) {
  const auto plan = TRY(plan_of(request.model.empty() ? std::string(kUsualModel) : request.model));
  return request.json ? json_text(plan, request.gpus) : people_text(plan, request.gpus);
}

}  // namespace tutti
