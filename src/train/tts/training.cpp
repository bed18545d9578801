#include "train/training.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/field_names.h"
#include "base/json.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "device/machine.h"
#include "feed/voice/voice_set.h"
#include "model/cpu/compute_team.h"
#include "recipe/recipe_file.h"
#include "train/checkpoint/resume.h"
#include "train/optimiser_step/step_memory.h"
#include "train/plan/sample_memory.h"
#include "train/stop_signals.h"
#include "train/trainings.h"
#include "train/tts/task.h"
#include "train/tts/voice_data.h"

namespace tutti {
namespace {

/// What is learned from, and what the best network is chosen by.
struct TrainingData {
  std::shared_ptr<const VoiceSet> training{};
  std::shared_ptr<const VoiceSet> validation{};
  std::vector<std::int64_t> chosen_by{};  // clips of `validation`; empty: nothing chooses
};

constexpr std::size_t kMostChosenBy = 128;  // clips that an evaluation takes, spread evenly

/// Clips of the validation set: of its part for that, or of all its clips where it is a set of its own.
std::vector<std::int64_t> clips_to_choose_by(const VoiceSet& set, bool is_own_set) {
  const auto part = set.part(VoicePart::validation);
  std::vector<std::int64_t> all(part.begin(), part.end());
  for (std::int64_t clip = 0; is_own_set && all.empty() && clip < set.size(); ++clip) all.push_back(clip);
  return spread_evenly(all, kMostChosenBy);
}

Result<TrainingData> open_data(const TtsRecipe& recipe) {
  auto training = TRY(VoiceSet::open(recipe.train_data));
  TrainingData data{.training = training, .validation = training};
  if (!recipe.val_data.empty()) {
    data.validation = TRY(VoiceSet::open(recipe.val_data));
  }
  if (data.training->part(VoicePart::training).empty())
    return fail(Fault::usage, recipe.train_data.string() + ": the set has no clip to learn from");
  const bool alike = data.training->front_end() == data.validation->front_end() &&
                     data.training->format().mel == data.validation->format().mel &&
                     data.training->format().speakers == data.validation->format().speakers;
  if (!alike)
    return fail(Fault::usage,
                recipe.val_data.string() + ": its symbols, spectrograms or speakers are others than those of " +
                    recipe.train_data.string(),
                "Make both with the same 'tutti prepare tts'");
  data.chosen_by = clips_to_choose_by(*data.validation, !recipe.val_data.empty());
  return data;
}

Error with_changed_settings(Error error, const TtsTraining& training) {
  return with_changed_settings(std::move(error), training.out, training.settings,
                               [](const std::string& text, const char* name) { return read_tts_recipe(text, name); });
}

/// "58.2": of the clips that are learned from.
std::string minutes_of(const VoiceSet& set) {
  return fixed_text(set.length(set.part(VoicePart::training)).count() / 60, 1);
}

void report_set(const TrainingData& data, const TtsTask& task, const std::string& devices) {
  log(Level::info, "a voice of " + std::to_string(parameter_count(task.weights())) + " parameters on " +
                       task.device().str() + "; " + std::to_string(data.training->part(VoicePart::training).size()) +
                       " clips, " + minutes_of(*data.training) + " min at " +
                       std::to_string(data.training->format().mel.rate.value) + " Hz, to learn from, " +
                       std::to_string(data.chosen_by.size()) + " to choose the best by" + devices);
}

/// README.md of a voice's folder; `scores`: of its last evaluation.
std::string voice_card(const VoiceModel& model, const VoiceSet& set, const std::optional<VoiceScores>& scores) {
  const auto line = [](const std::string& what, const std::string& value) {
    return "| " + what + " | " + value + " |\n";
  };
  std::string card =
      "# A voice of Tutti\n\nMade by `tutti train tts`; speak with `tutti say --voice DIR -o x.wav TEXT`.\n\n"
      "| | |\n|---|---|\n" +
      line("learned from", model.label.empty() ? "a set without a label" : model.label) +
      line("clips, minutes", std::to_string(set.part(VoicePart::training).size()) + ", " + minutes_of(set)) +
      line("language", model.language) + line("speakers", joined(model.speakers, ", ")) +
      line("sound", std::to_string(model.mel.rate.value) + " Hz, " + std::to_string(model.mel.n_mels) +
                        " mels; phases by Griffin-Lim") +
      line("parameters", std::to_string(parameter_count(model.network.all)));
  if (scores)
    card += line("losses on clips held out", "flow " + fixed_text(scores->flow, 4) + ", prior " +
                                                 fixed_text(scores->prior, 4) + ", durations " +
                                                 fixed_text(scores->durations, 4));
  return card;
}

/// What field note 002's sizes have and this form of network does not.
void answer_size(const std::string& size) {
  if (size == "nano") return;
  log(Level::info,
      "model-size " + size +
          ": the text encoder and the decoder have the note's dimensions; its audio encoder, stop head and "
          "32,000 tokens have no place here: texts are aligned by search, and durations end the speech");
}

/// The decoder's error and the encoder's choose. That of the durations does not: it rises long before the voice gets
/// worse.
TaskScores task_scores(const VoiceScores& scores) {
  const nlohmann::ordered_json json{{"prior", scores.prior}, {"durations", scores.durations}, {"flow", scores.flow}};
  return {.rank = scores.prior + scores.flow,
          .metrics = {{"prior", scores.prior}, {"durations", scores.durations}, {"flow", scores.flow}},
          .text = "flow " + fixed_text(scores.flow, 4) + ", prior " + fixed_text(scores.prior, 4) + ", durations " +
                  fixed_text(scores.durations, 4),
          .json = json_line(json)};
}

Result<TaskScores> evaluated(TtsTask& task, const TrainingData& data, const TtsTraining& training) {
  const auto scores =
      TRY(score_voice(task.model(), *data.validation, data.chosen_by, training.recipe.batch_size, stop_requested));
  task.set_card(voice_card(task.model(), *data.training, scores));
  return task_scores(scores);
}

/// The steps have no more threads than the cores of their device.
void step_on(ThreadCores cores, int compute_threads) {
  if (cores.cores.empty()) return;
  if (compute_threads > 0) cores.threads = std::min(cores.threads, compute_threads);
  use_cores(cores);
}

/// A limit of the data device's memory was planned with as many batches as usual.
RingRequest ring_of(const TtsRecipe& r, const TtsTask& task) {
  RingRequest ring{.training = ring_training(kTtsTraining, r.train_data, r.batch_size, "", task.device().str()),
                   .depth = r.ring_depth};
  if (r.data_gpu_memory > 0) ring.memory = {};
  return ring;
}

/// What a step holds at least of the clip that takes the most: a dry run holds up to a sixth less than is computed.
Bytes least_sample(const TtsRecipe& r, const VoiceShape& shape, const VoiceSet& set) {
  constexpr double kHeld = 0.8;
  Bytes most{};
  for (const auto clip : set.part(VoicePart::training)) {
    const ClipLength length{.symbols = set.symbols(clip), .frames = set.frames(clip)};
    most.value = std::max(most.value, activations_of(shape, length, r.gradient_checkpointing).value);
  }
  return Bytes{std::llround(kHeld * static_cast<double>(most.value))};
}

Result<TrainingEnd> train(const TtsTraining& training, const TrainingData& data) {
  const auto& r = training.recipe;
  const auto learned = TRY(learned_data(r, data.training));
  auto task = TRY(TtsTask::start(r, learned));
  step_on(task->cores(), r.compute_threads);
  warn_of_precision(task->device(), r.precision);
  const Bytes sample = least_sample(r, task->model().network.shape, *data.training);
  TRY(set_up_step_memory(*task, r.device_memory, sample));
  TRY(limit_data_memory(*task, r, learned));
  constexpr double kBeta2 = 0.98;
  TrainStep step(*task, {.beta2 = kBeta2, .weight_decay = r.weight_decay},
                 {.precision = step_precision(r.precision), .clip = r.clip, .ema = r.ema, .seed = r.seed});
  auto state = state_to_go_on_from(training.out, training.resume, *task, step, nullptr);
  if (!state) return tl::unexpected<Error>(with_changed_settings(state.error(), training));
  auto batches = VoiceBatches::open(r, learned, state->positions.empty() ? "" : state->positions.front());
  if (!batches) return tl::unexpected<Error>(with_changed_settings(batches.error(), training));
  const auto length = length_of(
      batches->rows, [&](std::int64_t) { return steps_of(batches->an_epoch, 1, r.accumulation); }, r.epochs,
      r.max_steps, nullptr);
  report_detour(r, learned);
  report_set(data, *task, devices_text(r, learned));
  if (r.model.empty()) answer_size(r.model_size);
  std::function<Result<TaskScores>()> evaluate;
  if (!data.chosen_by.empty()) evaluate = [&] { return evaluated(*task, data, training); };
  task->set_card(voice_card(task->model(), *data.training, std::nullopt));
  return run_training(
      {.task = *task,
       .step = step,
       .next = batches->next,
       .evaluate = evaluate,
       .options = options_of(training, schedule_by_steps(r, r.warmup_steps), length, data.validation->fingerprint()),
       .ring = ring_of(r, *task),
       .log_steps = r.log_steps,
       .log_order = r.log_order,
       .epochs = r.epochs},
      std::move(*state));
}

}  // namespace

Result<TrainingEnd> train_tts(TtsTraining training) {
  set_compute_threads(training.recipe.compute_threads, read_cpu().cores);
  const auto data = TRY(open_data(training.recipe));
  const auto group = TRY(join_processes(training.out));
  if (group.peers)
    return fail(Fault::usage, "a voice is trained by one process",
                "Start one process, on the device with " + field("device"));
  return train(training, data);
}

}  // namespace tutti
