#include "train/training.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "audio/vocoder/griffin_lim.h"
#include "base/field_names.h"
#include "base/json.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/try.h"
#include "train/learner.h"
#include "train/stop_signals.h"
#include "train/trainings.h"
#include "train/vocoder/task.h"

namespace tutti {
namespace {

constexpr std::size_t kMostChosenBy = 32;  // clips that an evaluation takes, spread evenly

std::string scores_text(const CopyScores& scores) {
  return "mel " + fixed_text(scores.mel, 3) + ", spectra " + fixed_text(scores.spectra, 3);
}

void report_set(const VocoderData& data, const VocoderTask& task) {
  const auto left_out = data.set->part(VoicePart::training).size() - data.training.size();
  log(Level::info, "a vocoder of " + std::to_string(parameter_count(task.weights())) + " parameters on " +
                       task.device().str() + "; " + std::to_string(data.training.size()) + " clips, " +
                       data.set->minutes(data.training) + " min at " +
                       std::to_string(data.set->format().mel.rate.value) + " Hz, to learn from, " +
                       std::to_string(std::min(data.validation.size(), kMostChosenBy)) + " to choose the best by" +
                       (data.made ? "; the voice makes their spectrograms" : "") +
                       (left_out > 0 ? "; " + std::to_string(left_out) + " are shorter than a crop and left out" : ""));
}

class VocoderLearner : public Learner<VocoderRecipe, VocoderTask> {
 public:
  VocoderLearner(VocoderTraining training, VocoderData data)
      : Learner(std::move(training)), data_(std::move(data)), clips_(spread_evenly(data_.validation, kMostChosenBy)) {}

  Result<void> start() override {
    task_ = TRY(VocoderTask::start(recipe(), data_));
    return {};
  }
  Result<TrainingBatches> open_batches(const std::string& position) override {
    return batches_of_rows(std::ssize(data_.training), recipe().batches.size, data_.fingerprint(), position);
  }
  Result<void> begin() override {
    report_set(data_, *task_);
    task_->set_card(card(std::nullopt));
    return {};
  }
  std::string evaluator() override { return std::to_string(data_.fingerprint()); }
  std::function<Result<TaskScores>()> evaluation() override {
    if (data_.validation.empty()) return {};
    return [this] { return evaluated(); };
  }
  RingRequest ring() override {
    return ring_of(recipe().data.train_data, recipe().batches.size, "width " + std::to_string(recipe().network.width));
  }

 private:
  /// Scores the network as it is beside Griffin-Lim, which is done once.
  Result<TaskScores> evaluated() {
    if (!beside_) {
      const GriffinLim griffin_lim(data_.set->format().mel);
      const auto scores = TRY(score_copies(
          data_, clips_, [&](auto mel, auto frames) { return griffin_lim.audio_of(mel, frames); }, stop_requested));
      beside_ = scores;
    }
    const auto scores = TRY(score_copies(
        data_, clips_, [&](auto mel, auto frames) { return task_->model().audio_of(mel, frames); }, stop_requested));
    task_->set_card(card(scores));
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
    const auto& model = task_->model();
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
        line("clips, minutes", std::to_string(data_.training.size()) + ", " + data_.set->minutes(data_.training)) +
        line("sound", std::to_string(model.mel.rate.value) + " Hz, " + std::to_string(model.mel.n_mels) + " mels") +
        line("parameters", std::to_string(parameter_count(model.network.all)));
    if (scores)
      text += line(std::to_string(clips_.size()) + " recordings held out, made again of their spectrograms",
                   scores_text(*scores) + "; by Griffin-Lim " + scores_text(*beside_));
    return text;
  }

  VocoderData data_;
  std::vector<std::int64_t> clips_;     // what an evaluation takes
  std::optional<CopyScores> beside_{};  // Griffin-Lim's
};

}  // namespace

Result<TrainingEnd> train_vocoder(VocoderTraining training) {
  auto data = TRY(VocoderData::open(training.recipe.data.train_data, training.recipe.data.voice));
  const auto group =
      TRY(join_alone(training.out, "a vocoder", "Start one process, on the device with " + field("device")));
  VocoderLearner learner(std::move(training), std::move(data));
  return train_task(learner);
}

}  // namespace tutti
