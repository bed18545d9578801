#include "train/training.h"

#include <optional>
#include <utility>

#include "audio/vocoder/griffin_lim.h"
#include "base/field_names.h"
#include "base/json.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/try.h"
#include "device/machine.h"
#include "feed/labelled/labelled_batches.h"
#include "model/cpu/compute_team.h"
#include "recipe/recipe_file.h"
#include "train/checkpoint/resume.h"
#include "train/optimiser_step/step_memory.h"
#include "train/stop_signals.h"
#include "train/trainings.h"
#include "train/vocoder/task.h"

namespace tutti {
namespace {

constexpr std::size_t kMostChosenBy = 32;  // clips that an evaluation takes, spread evenly

Error with_changed_settings(Error error, const VocoderTraining& training) {
  return with_changed_settings(
      std::move(error), training.out, training.settings,
      [](const std::string& text, const char* name) { return read_vocoder_recipe(text, name); });
}

std::string scores_text(const CopyScores& scores) {
  return "mel " + fixed_text(scores.mel, 3) + ", spectra " + fixed_text(scores.spectra, 3);
}

/// "58.2": of clips.
std::string minutes_text(const VoiceSet& set, const std::vector<std::int64_t>& clips) {
  return fixed_text(set.length(clips).count() / 60, 1);
}

/// Scores the network as it is beside Griffin-Lim, which is done once.
class CopyEvaluation {
 public:
  CopyEvaluation(VocoderTask& task, const VocoderData& data)
      : task_(task), data_(data), clips_(spread_evenly(data.validation, kMostChosenBy)) {}

  Result<TaskScores> operator()() {
    if (!beside_) {
      const GriffinLim griffin_lim(data_.set->format().mel);
      const auto scores = TRY(score_copies(
          data_, clips_, [&](auto mel, auto frames) { return griffin_lim.audio_of(mel, frames); }, stop_requested));
      beside_ = scores;
    }
    const auto scores = TRY(score_copies(
        data_, clips_, [&](auto mel, auto frames) { return task_.model().audio_of(mel, frames); }, stop_requested));
    task_.set_card(card(scores));
    const nlohmann::ordered_json json{{"mel", scores.mel},
                                      {"spectra", scores.spectra},
                                      {"griffin_lim_mel", beside_->mel},
                                      {"griffin_lim_spectra", beside_->spectra}};
    return TaskScores{.rank = scores.mel + scores.spectra,
                      .metrics = {{"mel", scores.mel}, {"spectra", scores.spectra}},
                      .text = scores_text(scores) + " (Griffin-Lim: " + scores_text(*beside_) + ")",
                      .json = json_line(json)};
  }

  /// README.md of the vocoder's folder.
  std::string card(const std::optional<CopyScores>& scores) const {
    const auto& model = task_.model();
    const auto line = [](const std::string& what, const std::string& value) {
      return "| " + what + " | " + value + " |\n";
    };
    std::string text =
        "# A vocoder of Tutti\n\nMade by `tutti train vocoder`: sound of the spectrograms of voices. Speak with it by "
        "`tutti "
        "say --voice VOICE --vocoder DIR -o x.wav TEXT`, or put it into a voice's folder as `vocoder`.\n\n"
        "| | |\n|---|---|\n" +
        line("learned from", (model.label.empty() ? "a set without a label" : model.label) +
                                 (data_.made ? ", from spectrograms that a voice made of its texts" : "")) +
        line("clips, minutes",
             std::to_string(data_.training.size()) + ", " + minutes_text(*data_.set, data_.training)) +
        line("sound", std::to_string(model.mel.rate.value) + " Hz, " + std::to_string(model.mel.n_mels) + " mels") +
        line("parameters", std::to_string(parameter_count(model.network.all)));
    if (scores)
      text += line(std::to_string(clips_.size()) + " recordings held out, made again of their spectrograms",
                   scores_text(*scores) + "; by Griffin-Lim " + scores_text(*beside_));
    return text;
  }

 private:
  VocoderTask& task_;
  const VocoderData& data_;
  std::vector<std::int64_t> clips_;
  std::optional<CopyScores> beside_{};  // Griffin-Lim's
};

void report_set(const VocoderData& data, const VocoderTask& task) {
  const auto left_out = data.set->part(VoicePart::training).size() - data.training.size();
  log(Level::info, "a vocoder of " + std::to_string(parameter_count(task.weights())) + " parameters on " +
                       task.device().str() + "; " + std::to_string(data.training.size()) + " clips, " +
                       minutes_text(*data.set, data.training) + " min at " +
                       std::to_string(data.set->format().mel.rate.value) + " Hz, to learn from, " +
                       std::to_string(std::min(data.validation.size(), kMostChosenBy)) + " to choose the best by" +
                       (data.made ? "; the voice makes their spectrograms" : "") +
                       (left_out > 0 ? "; " + std::to_string(left_out) + " are shorter than a crop and left out" : ""));
}

Result<TrainingEnd> train(const VocoderTraining& training, const VocoderData& data) {
  const auto& r = training.recipe;
  auto task = TRY(VocoderTask::start(r, data));
  warn_of_precision(task->device(), r.precision);
  TRY(set_up_step_memory(*task, r.device_memory));
  constexpr double kBeta2 = 0.98;
  TrainStep step(*task, {.beta2 = kBeta2, .weight_decay = r.weight_decay},
                 {.precision = step_precision(r.precision), .clip = r.clip, .ema = r.ema, .seed = r.seed});
  auto state = state_to_go_on_from(training.out, training.resume, *task, step, nullptr);
  if (!state) return tl::unexpected<Error>(with_changed_settings(state.error(), training));
  const auto clips = std::ssize(data.training);
  auto batches = LabelledBatches::open({.rows = clips,
                                        .batch_size = r.batch_size,
                                        .epochs = r.epochs,
                                        .seed = r.seed,
                                        .fingerprint = data.fingerprint()},
                                       state->positions.empty() ? "" : state->positions.front());
  if (!batches) return tl::unexpected<Error>(with_changed_settings(batches.error(), training));
  const auto length = length_of(
      clips, [&](std::int64_t samples) { return steps_of(samples, r.batch_size, r.accumulation); }, r.epochs,
      r.max_steps, nullptr);
  report_set(data, *task);
  CopyEvaluation evaluation(*task, data);
  task->set_card(evaluation.card(std::nullopt));
  std::function<Result<TaskScores>()> evaluate;
  if (!data.validation.empty()) evaluate = [&] { return evaluation(); };
  return run_training(
      {.task = *task,
       .step = step,
       .next = [&] { return Result<std::optional<Batch>>(batches->next()); },
       .evaluate = evaluate,
       .options = options_of(training, schedule_by_steps(r, r.warmup_steps), length, data.fingerprint()),
       .ring = {.training = ring_training(kVocoderTraining, r.train_data, r.batch_size,
                                          "width " + std::to_string(r.width), task->device().str()),
                .depth = r.ring_depth},
       .log_steps = r.log_steps,
       .log_order = r.log_order,
       .epochs = r.epochs},
      std::move(*state));
}

}  // namespace

Result<TrainingEnd> train_vocoder(VocoderTraining training) {
  set_compute_threads(training.recipe.compute_threads, read_cpu().cores);
  const auto data = TRY(VocoderData::open(training.recipe.train_data, training.recipe.voice));
  const auto group = TRY(join_processes(training.out));
  if (group.peers)
    return fail(Fault::usage, "a vocoder is trained by one process",
                "Start one process, on the device with " + field("device"));
  return train(training, data);
}

}  // namespace tutti
