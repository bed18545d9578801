// How a training ends: as it should, because what feeds it has failed, or because its steps are no numbers.

#include <exception>
#include <functional>
#include <string>
#include <utility>

#include "base/field_names.h"
#include "base/log.h"
#include "base/try.h"
#include "model/gpu/out_of_memory.h"
#include "recipe/checkpoint_names.h"
#include "train/trainer.h"

namespace tutti {
namespace {

/// What a device that is gone throws meanwhile must not hide why the training ends.
Result<void> kept(const std::function<Result<void>()>& save) {
  try {
    return save();
  } catch (const std::exception& problem) {
    return tl::unexpected<Error>(failure_of(problem, "the checkpoint could not be written", ""));
  }
}

}  // namespace

/// Whatever has ended the steps, what they have learned stays, to go on from with the very next sample. Not where
/// others train along: their positions cannot be gathered there.
tl::unexpected<Error> Trainer::end_with(Error why) {
  if (saved_step_ != state_.step && !parts_.peers) {
    const auto saved = kept([this] {
      const auto handed = save();
      return handed ? folder_.finish_checkpoints() : handed;
    });
    log(Level::warning, saved ? "the training ends early; what it has learned is kept as the checkpoint of step " +
                                    std::to_string(state_.step)
                              : "what was learned since the last checkpoint is lost: " + saved.error().text());
  }
  return tl::unexpected<Error>(std::move(why));
}

/// The weights are those of the last step that was finite. They may be what is wrong, so no training goes on from them
/// by itself; but where the samples are wrong, the checkpoint before them would only lead back to them. No process ends
/// before the first has written: the launcher ends all of them with the first that fails.
tl::unexpected<Error> Trainer::give_up(Error why) {
  const bool has_checkpoint = saved_step_ != 0;
  saved_step_ = state_.step;  // as far as it is to be
  note_positions();
  auto behind = state_;
  behind.left_out_in_row = 0;  // who goes on behind these samples holds them to blame, and not the network
  const auto write = [&] {
    return kept([&]() -> Result<void> {
      if (!is_first()) return {};
      const auto handed = folder_.save_aside(behind);
      return handed ? folder_.finish_checkpoints() : handed;
    });
  };
  const auto written = parts_.peers ? parts_.peers->run_and_wait("keeps what was learned", write) : write();
  if (written)
    why.hint +=
        std::string(has_checkpoint ? ". " + field("resume") + " goes on from the checkpoint before them"
                                   : ". There is no checkpoint before them, " + field("resume") + " starts again") +
        "; what the finite steps since have come to is " + folder_.aside_of_step(state_.step).string() + ": without '" +
        std::string(kStoppedPrefix) + "' in its name, " + field("resume") + " goes on from there, behind these samples";
  else
    log(Level::warning, "what was learned since the last checkpoint is lost: " + written.error().text());
  return tl::unexpected<Error>(std::move(why));
}

Result<TrainingEnd> Trainer::finish(TrainingEnd end) {
  Result<void> done{};
  const bool evaluates = parts_.evaluate && end != TrainingEnd::interrupted && state_.evaluated_step != state_.step;
  if (evaluates) done = evaluate_step(/*keeps=*/true);
  if (state_.evaluation_due) end = TrainingEnd::interrupted;
  const bool whole = end != TrainingEnd::interrupted;
  if (done && saved_step_ != state_.step) done = save();
  if (done && whole && is_first() && !parts_.evaluate) {
    const AveragesInPlace averages(parts_.task, parts_.step);
    done = folder_.publish(state_.step);
  } else if (done && whole && is_first() && state_.best_step > 0) {
    done = folder_.publish_best(state_.best_step);
  }
  if (done) done = folder_.finish();
  TRY(done);
  return end;
}

}  // namespace tutti
