#include "train/training.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/field_names.h"
#include "base/json.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "feed/voice/voice_set.h"
#include "train/learner.h"
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
  auto training = TRY(VoiceSet::open(recipe.data.train_data));
  TrainingData data{.training = training, .validation = training};
  if (!recipe.data.val_data.empty()) {
    data.validation = TRY(VoiceSet::open(recipe.data.val_data));
  }
  if (data.training->part(VoicePart::training).empty())
    return fail(Fault::usage, recipe.data.train_data.string() + ": the set has no clip to learn from");
  const bool alike = data.training->front_end() == data.validation->front_end() &&
                     data.training->format().mel == data.validation->format().mel &&
                     data.training->format().speakers == data.validation->format().speakers;
  if (!alike)
    return fail(Fault::usage,
                recipe.data.val_data.string() + ": its symbols, spectrograms or speakers are others than those of " +
                    recipe.data.train_data.string(),
                "Make both with the same 'tutti prepare tts'");
  data.chosen_by = clips_to_choose_by(*data.validation, !recipe.data.val_data.empty());
  return data;
}

void report_set(const TrainingData& data, const TtsTask& task, const std::string& devices) {
  const VoiceSet& set = *data.training;
  const auto clips = set.part(VoicePart::training);
  log(Level::info, "a voice of " + std::to_string(parameter_count(task.weights())) + " parameters on " +
                       task.device().str() + "; " + std::to_string(clips.size()) + " clips, " + set.minutes(clips) +
                       " min at " + std::to_string(set.format().mel.rate.value) + " Hz, to learn from, " +
                       std::to_string(data.chosen_by.size()) + " to choose the best by" + devices);
}

std::string losses_text(const VoiceScores& scores) {
  return "flow " + fixed_text(scores.flow, 4) + ", prior " + fixed_text(scores.prior, 4) + ", durations " +
         fixed_text(scores.durations, 4);
}

/// README.md of a voice's folder; `scores`: of its last evaluation.
std::string voice_card(const VoiceModel& model, const VoiceSet& set, const std::optional<VoiceScores>& scores) {
  const auto line = [](const std::string& what, const std::string& value) {
    return "| " + what + " | " + value + " |\n";
  };
  const auto clips = set.part(VoicePart::training);
  std::string card =
      "# A voice of Tutti\n\nMade by `tutti train tts`; speak with `tutti say --voice DIR -o x.wav TEXT`.\n\n"
      "| | |\n|---|---|\n" +
      line("learned from", model.label.empty() ? "a set without a label" : model.label) +
      line("clips, minutes", std::to_string(clips.size()) + ", " + set.minutes(clips)) +
      line("language", model.language) + line("speakers", joined(model.speakers, ", ")) +
      line("sound", std::to_string(model.mel.rate.value) + " Hz, " + std::to_string(model.mel.n_mels) +
                        " mels; phases by Griffin-Lim") +
      line("parameters", std::to_string(parameter_count(model.network.all)));
  return scores ? card + line("losses on clips held out", losses_text(*scores)) : card;
}

/// What field note 002's sizes have and this form of network does not.
void answer_size(const VoiceSizeWord& size) {
  if (size == VoiceSize::nano) return;
  log(Level::info,
      "model-size " + size.word() +
          ": the text encoder and the decoder have the note's dimensions; its audio encoder, stop head and "
          "32,000 tokens have no place here: texts are aligned by search, and durations end the speech");
}

/// The decoder's error and the encoder's choose. That of the durations does not: it rises long before the voice gets
/// worse.
TaskScores task_scores(const VoiceScores& scores) {
  const nlohmann::ordered_json json{{"prior", scores.prior}, {"durations", scores.durations}, {"flow", scores.flow}};
  return {.rank = scores.prior + scores.flow,
          .metrics = {{"prior", scores.prior}, {"durations", scores.durations}, {"flow", scores.flow}},
          .text = losses_text(scores),
          .json = json_line(json)};
}

/// The steps have no more threads than the cores of their device.
void step_on(ThreadCores cores, int compute_threads) {
  if (cores.cores.empty()) return;
  if (compute_threads > 0) cores.threads = std::min(cores.threads, compute_threads);
  use_cores(cores);
}

/// What a step holds at least of the clip that takes the most: a dry run holds up to a sixth less than is computed.
Bytes least_sample(const TtsRecipe& r, const VoiceShape& shape, const VoiceSet& set) {
  constexpr double kHeld = 0.8;
  Bytes most{};
  for (const auto clip : set.part(VoicePart::training)) {
    const ClipLength length{.symbols = set.symbols(clip), .frames = set.frames(clip)};
    most.value = std::max(most.value, activations_of(shape, length, r.network.gradient_checkpointing).value);
  }
  return Bytes{std::llround(kHeld * static_cast<double>(most.value))};
}

class TtsLearner : public Learner<TtsRecipe, TtsTask> {
 public:
  TtsLearner(TtsTraining training, TrainingData data) : Learner(std::move(training)), data_(std::move(data)) {}

  Result<void> start() override {
    learned_ = TRY(learned_data(recipe(), data_.training));
    task_ = TRY(TtsTask::start(recipe(), learned_));
    step_on(task_->cores(), recipe().arithmetic.compute_threads);
    return {};
  }
  Result<void> limit_memory() override {
    const Bytes sample = least_sample(recipe(), task_->model().network.shape, *data_.training);
    TRY(set_up_step_memory(*task_, recipe().arithmetic.device_memory, sample));
    return limit_data_memory(*task_, recipe(), learned_);
  }
  Result<TrainingBatches> open_batches(const std::string& position) override {
    auto batches = TRY(VoiceBatches::open(recipe(), learned_, position));
    const auto steps = steps_of(batches.an_epoch, 1, recipe().batches.accumulation);
    return TrainingBatches{
        .next = std::move(batches.next), .samples = batches.rows, .steps = [steps](std::int64_t) { return steps; }};
  }
  Result<void> begin() override {
    report_detour(recipe(), learned_);
    report_set(data_, *task_, devices_text(recipe(), learned_));
    if (recipe().network.model.empty()) answer_size(recipe().network.model_size);
    task_->set_card(voice_card(task_->model(), *data_.training, std::nullopt));
    return {};
  }
  std::string evaluator() override { return std::to_string(data_.validation->fingerprint()); }
  std::function<Result<TaskScores>()> evaluation() override {
    if (data_.chosen_by.empty()) return {};
    return [this]() -> Result<TaskScores> {
      const auto scores =
          TRY(score_voice(task_->model(), *data_.validation, data_.chosen_by, recipe().batches.size, stop_requested));
      task_->set_card(voice_card(task_->model(), *data_.training, scores));
      return task_scores(scores);
    };
  }
  /// A limit of the data device's memory was planned with as many batches as usual.
  RingRequest ring() override {
    auto ring = ring_of(recipe().data.train_data, recipe().batches.size, "");
    if (recipe().data.gpu_memory > 0) ring.memory = {};
    return ring;
  }

 private:
  TrainingData data_;
  VoiceData learned_{};
};

}  // namespace

Result<TrainingEnd> train_tts(TtsTraining training) {
  auto data = TRY(open_data(training.recipe));
  const auto group =
      TRY(join_alone(training.out, "a voice", "Start one process, on the device with " + field("device")));
  TtsLearner learner(std::move(training), std::move(data));
  return train_task(learner);
}

}  // namespace tutti
