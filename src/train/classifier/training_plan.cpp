#include "train/plan/training_plan.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/field_names.h"
#include "base/files.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/try.h"
#include "feed/feature_cache.h"
#include "feed/labelled/labelled_batches.h"
#include "feed/labelled/labelled_set.h"
#include "recipe/training_fields.h"
#include "train/classifier/memory_plan.h"
#include "train/classifier/task.h"
#include "train/plan/dry_run.h"
#include "train/plan/plan_text.h"

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
  TRY(write_labelled_part(path, {.geometry = geometry, .labels = labels, .rows = rows, .mel = [&](std::size_t) {
                                   return std::span(mel);
                                 }}));
  auto set = LabelledSet::open(path);
  std::error_code ignored;
  std::filesystem::remove(path, ignored);  // it stays mapped
  return set;
}

/// What a step of a few hundred segments holds.
DryRun dry_run_of(ClassifierTask& task, const LabelledSet& set, Bytes segment) {
  constexpr std::int64_t kSegments = 100;
  const auto few = std::max<std::int64_t>(1, std::min(kSegments, set.rows() / 4));
  const auto inputs = [&](std::int64_t segments) {
    auto batches = LabelledBatches::open({.rows = set.rows(), .batch_size = segments}, "").value();
    return task.prepare(*batches.next()).inputs;
  };
  const auto loss = [&](const std::vector<at::Tensor>& rows) { return task.loss_sum(rows, /*dropout=*/true); };
  return dry_run(task.trained(), {inputs, loss}, few, segment);
}

/// A plan in numbers.
struct Plan {
  ClassifierShape shape{};
  std::int64_t parameters = 0;
  ClassifierRecipe recipe{};
  ClassifierBatches batches{};
  ClassifierMemory memory{};
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
          {"batch_size", preset.batch.batch_size},
          {"val_batch_size", plan.recipe.val_batch_size},
          {"ring_depth", plan.batches.ring_depth},
          {"set_on_gpu", preset.set_on_gpu},
          {"set_bytes", plan.memory.set.value},
          {"ring_bytes", preset.batch.ring.value},
          {"network_bytes", plan.memory.network.value},
          {"activation_bytes", preset.batch.activations.value},
          {"total_bytes", preset.batch.total.value},
          {"largest_batch", preset.batch.largest_batch}};
}

std::string json_text(const Plan& plan, const std::vector<PlannedGpu>& gpus) {
  Json json{{"train", "classifier"},
            {"labels", plan.shape.labels},
            {"parameters", plan.parameters},
            {"segments", plan.batches.rows}};
  for (const auto& gpu : gpus) json["gpus"].push_back(json_of(plan, gpu));
  json["dry_run"] = json_of(plan.run, "segments");
  for (const auto& note : kNotePresets)
    json["note_003"].push_back({{"name", note.gpu},
                                {"memory_bytes", note.gigabytes * kGigabyte},
                                {"batch_size", note.batch_size},
                                {"num_workers", note.workers},
                                {"prefetch_factor", note.prefetch}});
  return json_line(json) + "\n";
}

std::string gpu_table(const Plan& plan, const std::vector<PlannedGpu>& gpus) {
  TextTable table{.columns = {{"GPU"}}};
  for (const char* title : {"batch-size", "val-batch-size", "ring-depth", "set", "ring", "network", "activations",
                            "in all", "largest batch"})
    table.columns.push_back({.title = title, .right = true});
  for (const auto& gpu : gpus) {
    const auto preset = preset_of(plan, gpu.memory);
    table.rows.push_back({gpu.name, batch_text(preset.batch), std::to_string(plan.recipe.val_batch_size),
                          std::to_string(plan.batches.ring_depth),
                          preset.set_on_gpu ? bytes_text(plan.memory.set) : "host", bytes_text(preset.batch.ring),
                          bytes_text(plan.memory.network), bytes_text(preset.batch.activations),
                          bytes_text(preset.batch.total), std::to_string(preset.batch.largest_batch)});
  }
  return in_lines_without_constants(std::move(table));
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
                          std::to_string(preset.batch.batch_size), bytes_text(preset.batch.total)});
  }
  return in_lines(table);
}

std::string people_text(const Plan& plan, const std::vector<PlannedGpu>& gpus) {
  const auto& s = plan.shape;
  std::string text =
      "classifier of " + std::to_string(s.labels) + " labels, " + std::to_string(plan.parameters) + " parameters; " +
      std::to_string(plan.batches.rows) + " segments of " + std::to_string(s.n_mels) + " x " +
      std::to_string(s.frames) +
      (plan.is_note ? ", as field note 003 has them (" + field("data") + " SET plans for yours)\n\n" : "\n\n");
  text += gpu_table(plan, gpus);
  text +=
      "\nset: all features, gathered there by index; host: it does not fit, and batches are gathered in memory.\n"
      "ring: batches that are ready beside the step's. network: weights, gradients, averages and AdamW's state.\n"
      "in all: with 537 MB for the driver, which is an estimate. float32; float16 and bfloat16 take less.\n\n";
  text += dry_run_text(plan.run, "a step of this network", "segments") + "\n";
  if (plan.memory.row.value != kNoteRow) return text;
  return text + note_table(plan) +
         "\nThe note's trainer has loader processes and a queue of batches for each; here are none of them.\n";
}

}  // namespace

Result<std::string> plan_classifier(const TrainingPlanRequest& request) {
  const auto set =
      TRY(request.data.empty() ? note_set() : LabelledSet::open(set_file(request.data, SetPart::training)));
  Plan plan{.is_note = request.data.empty()};
  plan.recipe.arithmetic.device = "cpu";
  const auto task = TRY(ClassifierTask::start(plan.recipe, set));
  plan.shape = task->model().shape;
  plan.parameters = parameter_count(task->weights());
  plan.batches = {.rows = plan.is_note ? kNoteRows : set->rows(),
                  .batch_size = plan.recipe.batches.size,
                  .least_steps = plan.recipe.least_steps,
                  .ring_depth = ring_depth_of(plan.recipe.batches.ring_depth)};
  plan.memory = classifier_memory(plan.shape, plan.batches.rows, plan.parameters);
  plan.run = dry_run_of(*task, *set, plan.memory.activations);
  plan.memory.activations = verified(plan.memory.activations, plan.run.held, plan.run.computed);
  return request.json ? json_text(plan, request.gpus) : people_text(plan, request.gpus);
}

}  // namespace tutti
