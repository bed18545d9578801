#include "train/classifier/training_plan.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "base/numbers.h"
#include "feed/feature_cache.h"
#include "feed/labelled/labelled_batches.h"
#include "feed/labelled/labelled_set.h"
#include "train/classifier/memory_plan.h"
#include "train/classifier/task.h"
#include "train/optimiser_step/step.h"
#include "train/optimiser_step/step_memory.h"
#include "view/table.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kNoteRows = 3'165'040, kNoteRow = 128;  // segments, and bytes of each

/// A row of field note 003's table.
struct NotePreset {
  const char* gpu;
  std::int64_t gigabytes, batch_size, workers, prefetch;
};
constexpr std::array kNotePresets{NotePreset{"RTX 5090", 24, 8192, 8, 16}, NotePreset{"RTX 4090", 24, 7168, 8, 16},
                                  NotePreset{"RTX 3090", 24, 6144, 8, 12}, NotePreset{"RTX 4080", 16, 5120, 6, 12}};
constexpr std::int64_t kGigabyte = 1'000'000'000;

/// A few files in the note's geometry, to take a step with.
Result<std::shared_ptr<const LabelledSet>> note_set() {
  const auto geometry = leak_geometry();
  const std::vector<std::string> labels{"BACKGROUND", "CRACK", "LEAK", "NORMAL", "UNCLASSIFIED"};
  const std::vector mel(static_cast<std::size_t>(geometry.values()), to_half(1));
  std::vector<LabelledRow> rows;
  for (std::size_t i = 0; i < labels.size(); ++i)
    rows.push_back({labels[i], labels[i], static_cast<std::int16_t>(i), row_checksum(labels[i], mel)});
  const auto path = temporary_folder() / ("tutti-plan-" + std::to_string(::getpid()) + ".h5");
  const auto written = write_labelled_part(
      path, {.geometry = geometry, .labels = labels, .rows = rows, .mel = [&](std::size_t) { return std::span(mel); }});
  if (!written) return tl::unexpected<Error>(written.error());
  auto set = LabelledSet::open(path);
  std::error_code ignored;
  std::filesystem::remove(path, ignored);  // it stays mapped
  return set;
}

/// A step that was taken to see what it holds.
struct DryRun {
  std::int64_t segments = 0;
  Bytes held{};  // at most, for these segments
};

/// Steps with some and with twice as many segments: the difference is theirs alone.
DryRun dry_run(ClassifierTask& task, const LabelledSet& set, const ClassifierRecipe& recipe) {
  constexpr std::int64_t kSegments = 128;
  const auto few = std::max<std::int64_t>(1, std::min(kSegments, set.rows() / 2));
  TrainStep step(task, {.weight_decay = recipe.weight_decay}, {.clip = recipe.clip, .ema = recipe.ema});
  std::int64_t number = 0;
  const auto most_held = [&](std::int64_t segments) {
    auto batches = LabelledBatches::open({.rows = set.rows(), .batch_size = segments}, "").value();
    const auto batch = task.prepare(*batches.next());
    free_step_memory();
    const auto before = held_step_memory().used;
    step.run(std::span(&batch, 1), ++number, recipe.learning_rate);
    return static_cast<std::int64_t>(held_step_memory().most - before);
  };
  most_held(few);  // from here on the optimiser has its state
  const auto one = most_held(few), two = most_held(2 * few);
  return {few, Bytes{two - one}};
}

/// A plan in numbers.
struct Plan {
  ClassifierShape shape{};
  std::int64_t parameters = 0;
  ClassifierRecipe recipe{};
  ClassifierBatches batches{};
  ClassifierMemory memory{};
  Bytes computed{};  // activations_of a segment
  DryRun run{};
  bool is_note = false;
};

ClassifierPreset preset_of(const Plan& plan, Bytes gpu) {
  return preset_for(gpu, plan.memory, plan.batches);
}

Json json_of(const Plan& plan, const PlannedGpu& gpu) {
  const auto preset = preset_of(plan, gpu.memory);
  return {{"name", gpu.name},
          {"memory_bytes", gpu.memory.value},
          {"batch_size", preset.batch_size},
          {"val_batch_size", plan.recipe.val_batch_size},
          {"ring_depth", plan.batches.ring_depth},
          {"set_on_gpu", preset.set_on_gpu},
          {"set_bytes", plan.memory.set.value},
          {"ring_bytes", preset.ring.value},
          {"network_bytes", plan.memory.network.value},
          {"activation_bytes", preset.activations.value},
          {"total_bytes", preset.total.value},
          {"largest_batch", preset.largest_batch}};
}

std::string json_text(const Plan& plan, const std::vector<PlannedGpu>& gpus) {
  Json json{{"train", "classifier"},
            {"labels", plan.shape.labels},
            {"parameters", plan.parameters},
            {"segments", plan.batches.rows}};
  for (const auto& gpu : gpus) json["gpus"].push_back(json_of(plan, gpu));
  json["dry_run"] = {{"segments", plan.run.segments},
                     {"held_bytes", plan.run.held.value},
                     {"computed_bytes", plan.run.segments * plan.computed.value}};
  for (const auto& note : kNotePresets)
    json["note_003"].push_back({{"name", note.gpu},
                                {"memory_bytes", note.gigabytes * kGigabyte},
                                {"batch_size", note.batch_size},
                                {"num_workers", note.workers},
                                {"prefetch_factor", note.prefetch}});
  return json_line(json) + "\n";
}

std::string in_lines(const TextTable& table) {
  constexpr std::size_t kWidth = 140;
  std::string text;
  for (const auto& line : lay_out(table, kWidth)) text += line + "\n";
  return text;
}

std::string gpu_table(const Plan& plan, const std::vector<PlannedGpu>& gpus) {
  TextTable table{.columns = {{"GPU"}}};
  for (const char* title : {"batch-size", "val-batch-size", "ring-depth", "set", "ring", "network", "activations",
                            "in all", "largest batch"})
    table.columns.push_back({.title = title, .right = true});
  for (const auto& gpu : gpus) {
    const auto preset = preset_of(plan, gpu.memory);
    table.rows.push_back({gpu.name, preset.batch_size > 0 ? std::to_string(preset.batch_size) : "does not fit",
                          std::to_string(plan.recipe.val_batch_size), std::to_string(plan.batches.ring_depth),
                          preset.set_on_gpu ? bytes_text(plan.memory.set) : "host", bytes_text(preset.ring),
                          bytes_text(plan.memory.network), bytes_text(preset.activations), bytes_text(preset.total),
                          std::to_string(preset.largest_batch)});
  }
  return in_lines(table);
}

/// The note's table beside what is planned for GPUs of the same memory.
std::string note_table(const Plan& plan) {
  TextTable table{.columns = {{"field note 003"}}};
  for (const char* title :
       {"memory", "batch_size", "num_workers", "prefetch_factor", "queued", "here: batch-size", "in all"})
    table.columns.push_back({.title = title, .right = true});
  for (const auto& note : kNotePresets) {
    const auto preset = preset_of(plan, Bytes{note.gigabytes * kGigabyte});
    const Bytes queued{note.workers * note.prefetch * note.batch_size * plan.memory.row.value};
    table.rows.push_back({note.gpu, std::to_string(note.gigabytes) + " GB", std::to_string(note.batch_size),
                          std::to_string(note.workers), std::to_string(note.prefetch), bytes_text(queued),
                          std::to_string(preset.batch_size), bytes_text(preset.total)});
  }
  return in_lines(table);
}

std::string people_text(const Plan& plan, const std::vector<PlannedGpu>& gpus) {
  const auto& s = plan.shape;
  std::string text = "classifier of " + std::to_string(s.labels) + " labels, " + std::to_string(plan.parameters) +
                     " parameters; " + std::to_string(plan.batches.rows) + " segments of " + std::to_string(s.n_mels) +
                     " x " + std::to_string(s.frames) +
                     (plan.is_note ? ", as field note 003 has them (--data SET plans for yours)\n\n" : "\n\n");
  text += gpu_table(plan, gpus);
  text +=
      "\nset: all features, gathered there by index; host: it does not fit, and batches are gathered in memory.\n"
      "ring: batches that are ready beside the step's. network: weights, gradients, averages and AdamW's state.\n"
      "in all: with 537 MB for the driver, which is an estimate. float32; float16 and bfloat16 take less.\n\n";
  text += "dry run: a step of this network on the processor held " + bytes_text(plan.run.held) + " for " +
          std::to_string(plan.run.segments) + " segments; computed were " +
          bytes_text(Bytes{plan.run.segments * plan.computed.value}) + ". The plan has the larger.\n\n";
  if (plan.memory.row.value != kNoteRow) return text;
  return text + note_table(plan) +
         "\nThe note's trainer has loader processes and a queue of batches for each; here are none of them.\n";
}

}  // namespace

Result<std::string> plan_classifier(const ClassifierPlanRequest& request) {
  keep_step_memory();
  const auto set = request.data.empty() ? note_set() : LabelledSet::open(set_file(request.data, SetPart::training));
  if (!set) return tl::unexpected<Error>(set.error());
  Plan plan{.is_note = request.data.empty()};
  plan.recipe.device = "cpu";
  const auto task = ClassifierTask::start(plan.recipe, *set);
  if (!task) return tl::unexpected<Error>(task.error());
  plan.shape = (*task)->model().shape;
  plan.parameters = parameter_count((*task)->weights());
  plan.batches = {.rows = plan.is_note ? kNoteRows : (*set)->rows(),
                  .batch_size = plan.recipe.batch_size,
                  .least_steps = plan.recipe.least_steps,
                  .ring_depth = plan.recipe.ring_depth};
  plan.memory = classifier_memory(plan.shape, plan.batches.rows, plan.parameters);
  plan.computed = plan.memory.activations;
  plan.run = dry_run(**task, **set, plan.recipe);
  plan.memory.activations.value = std::max(plan.computed.value, plan.run.held.value / plan.run.segments);
  return request.json ? json_text(plan, request.gpus) : people_text(plan, request.gpus);
}

}  // namespace tutti
