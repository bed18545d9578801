#include "train/plan/training_plan.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/field_names.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/try.h"
#include "feed/voice/voice_set.h"
#include "hub/memory_plan.h"
#include "recipe/training_fields.h"
#include "recipe/tts_recipe.h"
#include "train/parameter.h"
#include "train/plan/dry_run.h"
#include "train/plan/plan_text.h"
#include "train/plan/sample_memory.h"
#include "train/tts/losses.h"
#include "train/tts/network.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kCheckpointing = "gradient-checkpointing";
constexpr ClipLength kNoteClip{.symbols = 200, .frames = 800};  // of field note 002's batches
constexpr std::int64_t kUsualSymbols = 100;                     // of a set that is not there yet

/// Field note 002's table for a GPU: its batches, and what both devices may take, in MB.
struct NoteGpu {
  const char* gpu;
  std::int64_t least, most;
  std::int64_t data_least, data_most;
  std::int64_t model_least, model_most;
};
constexpr std::array kNoteGpus{NoteGpu{"Small GPU", 8, 8, 4096, 4096, 8192, 8192},
                               NoteGpu{"Medium GPU", 16, 16, 6144, 6144, 12288, 12288},
                               NoteGpu{"Large GPU", 24, 32, 8192, 8192, 16384, 20480}};

/// The batches that it tries until memory runs out; of `base` there is no such network.
struct NoteLadder {
  const char* size;
  const char* batches;
};
constexpr std::array kNoteLadder{NoteLadder{"tiny", "16/24/32"}, NoteLadder{"small", "12/16/24"},
                                 NoteLadder{"base", "8/12/16"}, NoteLadder{"normal", "-"}, NoteLadder{"big", "-"}};

/// A plan in numbers.
struct Plan {
  std::string size{};
  VoiceShape shape{};
  ClipLength clip = kNoteClip;
  bool is_note = true;
  std::int64_t ring_depth = kUsualRingDepth;
  bool tried_whole = true;
  std::array<DryRun, 2> runs{};  // without gradient-checkpointing, and with it
};

std::int64_t parameters_of(const VoiceShape& shape) {
  return parameter_count(new_voice_network(shape, std::nullopt, at::kMeta).all);
}

PlannedTraining planned(const Plan& plan, const VoiceShape& shape, bool recompute, const PlannedGpu& gpu) {
  const auto& run = plan.runs[recompute ? 1 : 0];
  const CountedMemory memory{
      .fixed = network_state(parameters_of(shape), /*ema=*/false),
      .ring_sample = ring_sample_of(shape, plan.clip),
      .activations = verified(activations_of(shape, plan.clip, recompute), run.held, run.computed)};
  return {gpu, recompute ? kCheckpointing : "", memory, fit_batch(gpu.memory, memory, {.ring_depth = plan.ring_depth})};
}

/// The largest batch of a size under a limit as the note has it, which leaves out what the driver keeps; none where
/// there is no size of that name.
std::optional<FittedBatch> largest_within(const Plan& plan, const char* size, std::int64_t megabytes) {
  auto shape = voice_shape(size);
  if (!shape) return std::nullopt;
  shape->symbols = plan.shape.symbols;
  shape->speakers = plan.shape.speakers;
  shape->mels = plan.shape.mels;
  return planned(plan, *shape, /*recompute=*/false, {"", Bytes{megabytes * 1'000'000 + kDriverMemory.value}}).batch;
}

/// The network itself where a step of it takes seconds, else one as wide of a layer and a block.
VoiceShape shape_to_try(const VoiceShape& shape) {
  constexpr std::int64_t kMostParameters = 100'000'000;
  auto tried = shape;
  if (parameters_of(shape) > kMostParameters) tried.layers = tried.decoder_layers = 1;
  return tried;
}

/// Steps over clips that are all as long as the longest, by the losses that TtsTask has.
DryRun dry_run_of(const VoiceShape& shape, const ClipLength& clip, bool recompute) {
  constexpr std::int64_t kClips = 2;
  auto network = new_voice_network(shape, /*seed=*/1, at::kCPU);
  for (auto& weight : network.all) weight.value.set_requires_grad(true);
  const auto inputs = [&](std::int64_t rows) -> std::vector<at::Tensor> {
    return {at::zeros({rows, clip.symbols}, at::kLong),
            at::full({rows}, clip.symbols, at::kLong),
            at::zeros({rows, clip.frames, shape.mels}),
            at::full({rows}, clip.frames, at::kLong),
            at::zeros({rows}, at::kLong),
            at::full({rows}, 0.5),
            at::zeros({rows, kCropFrames, shape.mels})};
  };
  const auto loss = [&](const std::vector<at::Tensor>& in) {
    const VoiceRows rows{.symbols = in[0],
                         .symbol_counts = in[1],
                         .mel = in[2],
                         .frame_counts = in[3],
                         .speakers = in[4],
                         .crop = in[5],
                         .time = in[5]};
    const auto losses = voice_losses(network, rows, in[6], {.recompute = recompute});
    return (losses.prior + losses.durations + losses.flow).sum();
  };
  return dry_run(network.all, {inputs, loss}, kClips, activations_of(shape, clip, recompute));
}

/// The longest clips of a set, and what its texts and spectrograms have.
Result<void> take_set(Plan& plan, const std::filesystem::path& data) {
  const auto set = TRY(VoiceSet::open(data));
  plan.is_note = false;
  plan.clip = {.symbols = 1, .frames = 1};
  for (const auto clip : set->part(VoicePart::training)) {
    plan.clip.symbols = std::max(plan.clip.symbols, set->symbols(clip));
    plan.clip.frames = std::max(plan.clip.frames, set->frames(clip));
  }
  plan.shape.symbols = std::ssize(set->format().symbols);
  plan.shape.speakers = std::ssize(set->format().speakers);
  plan.shape.mels = static_cast<std::int64_t>(set->format().mean.size());
  return {};
}

Result<Plan> plan_of(const TrainingPlanRequest& request) {
  Plan plan{.size = request.model.empty() ? TtsRecipe{}.network.model_size.word() : request.model};
  const auto shape = TRY(voice_shape(plan.size));
  plan.shape = shape;
  plan.shape.symbols = kUsualSymbols;
  if (!request.data.empty()) TRY(take_set(plan, request.data));
  const auto tried = shape_to_try(plan.shape);
  plan.tried_whole = tried.decoder_layers == plan.shape.decoder_layers && tried.layers == plan.shape.layers;
  for (const bool recompute : {false, true}) plan.runs[recompute ? 1 : 0] = dry_run_of(tried, plan.clip, recompute);
  return plan;
}

std::string range(std::int64_t least, std::int64_t most) {
  return std::to_string(least) + (least == most ? "" : "-" + std::to_string(most));
}

std::string json_text(const Plan& plan, const std::vector<PlannedGpu>& gpus) {
  Json json{{"train", kTtsTraining},
            {"model_size", plan.size},
            {"parameters", parameters_of(plan.shape)},
            {"symbols", plan.clip.symbols},
            {"frames", plan.clip.frames}};
  for (const bool recompute : {false, true}) {
    for (const auto& gpu : gpus)
      json["gpus"].push_back(json_of(planned(plan, plan.shape, recompute, gpu), plan.ring_depth));
    auto run = json_of(plan.runs[recompute ? 1 : 0], "clips");
    run["whole_network"] = plan.tried_whole;
    if (recompute) run["with"] = kCheckpointing;
    if (!recompute) json["dry_run"] = run;
    json["dry_runs"].push_back(std::move(run));
  }
  for (const auto& note : kNoteGpus)
    json["note_002"].push_back({{"gpu", note.gpu},
                                {"batch_size", {note.least, note.most}},
                                {"data_gpu_memory_mb", {note.data_least, note.data_most}},
                                {"model_gpu_memory_mb", {note.model_least, note.model_most}}});
  for (const auto& rung : kNoteLadder) {
    Json row{{"model_size", rung.size}, {"batches", rung.batches}};
    for (const auto& note : kNoteGpus) {
      const auto largest = largest_within(plan, rung.size, note.model_most);
      row["largest_batch"].push_back(largest ? Json(largest->batch_size) : Json());
    }
    json["note_002_ladder"].push_back(row);
  }
  return json_line(json) + "\n";
}

/// The note's limits and batches, and its ladder beside what these limits hold.
std::string note_tables(const Plan& plan) {
  TextTable limits{.columns = {{"field note 002"}}};
  for (const char* title : {"batch-size", "data-gpu-memory", "model-gpu-memory"})
    limits.columns.push_back({.title = title, .right = true});
  TextTable ladder{.columns = {{"model-size"}, {"its batches", true}}};
  for (const auto& note : kNoteGpus) {
    limits.rows.push_back({note.gpu, range(note.least, note.most), range(note.data_least, note.data_most) + " MB",
                           range(note.model_least, note.model_most) + " MB"});
    ladder.columns.push_back({.title = "largest, " + std::to_string(note.model_most) + " MB", .right = true});
  }
  for (const auto& rung : kNoteLadder) {
    ladder.rows.push_back({rung.size, rung.batches});
    for (const auto& note : kNoteGpus) {
      const auto largest = largest_within(plan, rung.size, note.model_most);
      ladder.rows.back().push_back(largest ? batch_text(*largest) : "no size");
    }
  }
  return in_lines(limits) + "\n" + in_lines(ladder) +
         "\nThe note's networks have an audio encoder and 32,000 tokens beside; 'base' is in its batches, but no size "
         "of it.\n";
}

std::string people_text(const Plan& plan, const std::vector<PlannedGpu>& gpus) {
  std::string text =
      "a voice of size " + plan.size + ", " + std::to_string(parameters_of(plan.shape)) + " parameters; clips of " +
      std::to_string(plan.clip.symbols) + " symbols and " + std::to_string(plan.clip.frames) + " frames" +
      (plan.is_note ? ", as field note 002 has them (" + field("data") + " SET plans for yours)\n\n" : " at most\n\n");
  std::vector<PlannedTraining> batches;
  for (const auto& gpu : gpus)
    for (const bool recompute : {false, true}) batches.push_back(planned(plan, plan.shape, recompute, gpu));
  text += batch_table(batches) + "\n" + kColumnsText;
  const std::string tried =
      plan.tried_whole ? "a step of this network" : "one layer of its encoder and one block of its decoder";
  text += dry_run_text(plan.runs[0], tried, "clips");
  text += dry_run_text(plan.runs[1], std::string("the same with --") + kCheckpointing, "clips");
  return text + "\n" + note_tables(plan);
}

}  // namespace

Result<std::string> plan_tts(const TrainingPlanRequest& request) {
  const auto plan = TRY(plan_of(request));
  return request.json ? json_text(plan, request.gpus) : people_text(plan, request.gpus);
}

}  // namespace tutti
