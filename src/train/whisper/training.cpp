#include "train/training.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/field_names.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/try.h"
#include "base/units.h"
#include "hub/model_shape.h"
#include "model/formats/dims.h"
#include "public/tutti/feed.h"
#include "recipe/recipe_file.h"
#include "recipe/whisper_recipe.h"
#include "train/learner.h"
#include "train/peers/peers.h"
#include "train/trainings.h"
#include "train/whisper/evaluation_policy.h"
#include "train/whisper/feed.h"
#include "train/whisper/stored_shape.h"
#include "train/whisper/task.h"

namespace tutti {
namespace {

/// The settings as they are reported and kept, with the shape that a stored network has.
void settle_shape(WhisperTraining& training, const WhisperDims& dims, bool reports) {
  if (training.model.empty()) return;
  const auto unlike = take_stored_shape(training.recipe, dims);
  if (reports && !unlike.empty())
    log(Level::warning, "'model' names a network that keeps its shape; this was requested and does nothing: " + unlike);
  auto shown = read_recipe<WhisperRecipe>(training.settings, "settings").value();  // it was read before
  take_stored_shape(shown, dims);
  training.settings = show_recipe(shown);
}

/// What is trained, how big it is, where, and how fast: without a model a new network begins, which learns nothing
/// useful at the rate of a fine-tuning.
void report_network(const WhisperTraining& training, WhisperTask& task) {
  const auto& r = training.recipe;
  const auto& dims = task.dims();
  const auto kind = training.model.empty() ? std::string("a new network begins, for no " + field("model") + " is named")
                                           : "fine-tuning " + training.model.string();
  log(Level::info, kind + ": width " + std::to_string(dims.n_audio_state) + ", " + std::to_string(dims.n_audio_layer) +
                       " + " + std::to_string(dims.n_text_layer) + " layers, " +
                       std::to_string(parameter_count(task.weights())) + " parameters, on " + task.device().str() +
                       "; learning rate " + number_text(r.optimiser.learning_rate) + " at most");
}

class WhisperLearner : public Learner<WhisperRecipe, WhisperTask> {
 public:
  /// `peers`: the processes that train with this one, or null.
  WhisperLearner(WhisperTraining training, DataParts parts, Peers* peers)
      : Learner(std::move(training)), parts_(std::move(parts)), peers_(peers) {}

  Result<void> start() override {
    const bool reports = !peers_ || peers_->rank() == 0;
    task_ = TRY(WhisperTask::start(recipe(), training_.model));
    settle_shape(training_, task_->dims(), reports);
    if (reports) report_network(training_, *task_);
    return {};
  }
  Result<TrainingBatches> open_batches(const std::string& position) override {
    evaluation_data_ = TRY(evaluation_set(parts_, peers_));
    TRY(open_feed_with_peers(position));
    return TrainingBatches{
        .next = [this] { return feed_->next(); },
        .samples = feed_->samples_per_epoch(),
        .steps =
            [this](std::int64_t samples) {
              return steps_of(samples, recipe().batches.size, recipe().batches.accumulation);
            },
        .refused = {.count = recipe().data.bad_samples, .share = recipe().data.bad_share},
        .report = [this] { return feed_->report(); },
        .wait = [this](int more) { feed_->deepen(more); },
    };
  }
  std::string evaluator() override { return evaluator_of(recipe(), evaluation_data_.get(), peers_); }
  std::function<Result<TaskScores>()> evaluation() override {
    return evaluation_of(*task_, recipe(), parts_, takes_keyed_tone(training_.model));
  }
  /// How many batches wait; whose costs depend on the data, the network and where it is.
  RingRequest ring() override {
    auto ring =
        ring_of(recipe().data.source, recipe().batches.size, "width " + std::to_string(task_->dims().n_audio_state));
    ring.memory = Bytes{static_cast<std::int64_t>(recipe().packing.ring_megabytes * 1e6)};
    ring.has_feed = true;
    return ring;
  }

 private:
  /// The feed; where the recipe wants the set on the task's device, it is there now.
  Result<void> open_feed(FeedShare share, const std::string& position) {
    auto options = training_feed(recipe(), task_->dims(), training_.out, parts_.train_split, share, position);
    options.keyed_tone = takes_keyed_tone(training_.model);
    options.resident = resident_of(recipe(), task_->device());
    const bool on_device = options.resident.where == Residence::device;
    feed_.emplace(TRY(Feed::open(std::move(options))));
    if (share.rank == 0 && !feed_->conclusion().empty()) log(Level::warning, feed_->conclusion());
    return on_device && feed_->packed() ? task_->keep_on_device(feed_->packed()) : Result<void>();
  }
  /// Where processes do not share a set's cache, one may pack for hours what another finds packed.
  Result<void> open_feed_with_peers(const std::string& position) {
    if (!peers_) return open_feed({}, position);
    return peers_->run_and_wait("opens its data", [&] {
      return open_feed({peers_->rank(), peers_->ranks()}, position);
    });
  }

  DataParts parts_;
  Peers* peers_;
  std::unique_ptr<Dataset> evaluation_data_{};
  std::optional<Feed> feed_{};
};

}  // namespace

Result<TrainingEnd> train_whisper(WhisperTraining training) {
  auto parts = data_parts(training.recipe);
  TRY(check_evaluation(training.recipe, parts.eval_data.has_value()));
  const auto group = TRY(join_processes(training.out));
  WhisperLearner learner(std::move(training), std::move(parts), group.peers.get());
  return train_task(learner, group.peers.get());
}

}  // namespace tutti
