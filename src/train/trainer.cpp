#include "train/trainer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "base/field_names.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "model/gpu/out_of_memory.h"
#include "train/optimiser_step/step_memory.h"

namespace tutti {
namespace {

constexpr std::int64_t kNoEpoch = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kNotSaved = -1;
constexpr const char* kCutShort = "cut short";

BatchRingOptions ring_of(const TrainerOptions& options) {
  BatchRingOptions ring = options.ring;
  ring.in_step = options.accumulation;
  return ring;
}

double seconds_since(Clock::Instant begin) {
  return Seconds(Clock::real().now() - begin).count();
}

}  // namespace

Trainer::Trainer(TrainerParts parts, TrainerOptions options, TrainingState state)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      state_(std::move(state)),
      folder_({.out = options_.out,
               .keep = options_.keep,
               .export_type = options_.export_type,
               .settings = options_.settings},
              parts_.task, parts_.step, state_.model_step),
      begun_(Clock::real().now()),
      saved_step_(state_.step),
      refused_(BadSamples::counting(options_.refused)),
      ring_(parts_.task, parts_.next, ring_of(options_)) {
  const auto rank = static_cast<std::size_t>(parts_.peers ? parts_.peers->rank() : 0);
  if (rank < state_.positions.size()) position_ = state_.positions[rank];
  if (rank < state_.row_limits.size()) keep_row_limit(state_.row_limits[rank]);
  if (state_.step > 0) parts_.step.resume(state_.numbers);
  state_.numbers = parts_.step.state();
  restore_policy();
}

/// Scores by two sets, or by two ways to count them, say nothing about which network is better.
void Trainer::restore_policy() {
  if (!parts_.evaluate) return disable_evaluation();
  if (options_.evaluator.empty()) return;
  const auto before = std::exchange(state_.evaluator, options_.evaluator);
  if (before.empty() || before == options_.evaluator) return;
  state_.best_score = std::numeric_limits<double>::infinity();
  state_.without_progress = 0;
  state_.evaluated_step = 0;
  if (is_first())
    log(Level::info, "the network is evaluated with something else than before: the search for the best starts again");
}

/// The last network becomes OUT/model then, which the best one may be in now. That one's checkpoint stays: a later
/// training with the same evaluation makes the model of it. The state has to record that before the model is another
/// one.
void Trainer::disable_evaluation() {
  if (state_.best_step == 0 || state_.model_step == 0) return;
  state_.model_step = 0;
  folder_.forget_model();
  saved_step_ = kNotSaved;
  if (is_first())
    log(Level::warning,
        "the network is not evaluated any more, so the last one becomes the model; the best so far stays as "
        "the checkpoint of step " +
            std::to_string(state_.best_step));
}

/// Where memory ran out before the checkpoint it would again, and how many rows are added up at once shows in the sums.
void Trainer::keep_row_limit(const RowLimit& before) {
  if (before.rows == 0) return;
  const auto rows = std::to_string(before.rows);
  if (has_more(memory_for(parts_.task.device()), before.memory)) {
    log(Level::info, "memory ran out above " + rows + " samples at once; there is more now, more are tried again");
    return;
  }
  parts_.step.limit_rows(before.rows);
  kept_limit_ = before;
  log(Level::info, "at most " + rows + " samples are computed together, as before: memory ran out above");
}

/// Every process's value, by rank.
std::vector<std::string> Trainer::all_gather(const std::string& value) {
  return parts_.peers ? parts_.peers->gather(value) : std::vector<std::string>{value};
}

bool Trainer::any_rank(bool own) {
  const auto all = all_gather(own ? "yes" : "");
  return std::ranges::any_of(all, [](const std::string& value) { return !value.empty(); });
}

/// Has the next batch at hand, where there is one.
Result<void> Trainer::look_ahead() {
  if (ahead_) return {};
  const auto begin = Clock::real().now();
  auto batch = ring_.next();
  waited_ += seconds_since(begin);
  if (!batch) return tl::unexpected<Error>(batch.error());
  ahead_ = std::move(*batch);
  return {};
}

/// The epoch of the next step: the earliest of which any process has a batch. kNoEpoch when all feeds have ended.
Result<std::int64_t> Trainer::next_epoch() {
  TRY(look_ahead());
  auto epoch = kNoEpoch;
  const auto begin = Clock::real().now();
  for (const auto& value : all_gather(std::to_string(ahead_ ? ahead_->epoch : kNoEpoch)))
    epoch = std::min<std::int64_t>(epoch, std::stoll(value));
  waited_ += seconds_since(begin);  // for the feeds of the others: all end their steps together
  return epoch;
}

/// Our batches of the next step, all of one epoch; none where only others have some left.
Result<Trainer::Group> Trainer::collect(std::int64_t epoch) {
  Group group{.epoch = epoch};
  while (std::cmp_less(group.batches.size(), options_.accumulation)) {
    TRY(look_ahead());
    if (!ahead_ || ahead_->epoch != epoch) break;
    auto batch = std::exchange(ahead_, std::nullopt);
    position_ = batch->position;
    TRY(count_refused(batch->rows));
    if (batch->rows.ids.size() == 0) {
      if (is_interrupted()) break;  // there may be nothing else in a whole epoch
      continue;
    }
    group.ids.add(batch->rows.ids);
    group.batches.push_back(std::move(batch->rows));
    group.made += batch->slot.times();
    group.slots.push_back(std::move(batch->slot));
  }
  return group;
}

Result<void> Trainer::count_refused(const TaskBatch& batch) {
  refused_->note_seen(batch.ids.size() + std::ssize(batch.refused));
  for (const auto& [id, why] : batch.refused) {
    parts_.watcher.refused(id, why);
    if (auto added = refused_->add(id, why); !added) return added;
  }
  return {};
}

Result<void> Trainer::count_left_out(const StepOutcome& outcome, const Group& group) {
  if (outcome.finite) {
    state_.left_out_in_row = 0;
    return {};
  }
  if (parts_.step.seeks_scale()) return {};
  ++state_.left_out;
  const auto what = "step " + std::to_string(state_.step) + " is no finite number and was left out (samples " +
                    joined(group.ids.all(), ", ") + ")";
  if (++state_.left_out_in_row > options_.bad_step_limit)
    return fail(Fault::corrupt, what + "; that makes " + std::to_string(state_.left_out_in_row) + " in a row",
                "Lower learning-rate, or look at these samples");
  log(Level::warning, what);
  return {};
}

/// Follows from what the steps before have used, and so is the same after a resume.
double Trainer::next_rate() const {
  auto schedule = options_.schedule;
  if (schedule.steps == 0) schedule.steps = options_.length.expected(state_.step, state_.recordings);
  return schedule.at(state_.step + 1);
}

/// Releases the batches and returns the epoch of the step after this one.
Result<std::int64_t> Trainer::take_step(Group& group) {
  const auto begin = Clock::real().now();
  const auto number = state_.step + 1;
  const double rate = next_rate();
  const auto outcome = parts_.step.run(group.batches, number, rate);
  group.batches.clear();
  group.slots.clear();
  const double stepping = seconds_since(begin);
  auto epoch = next_epoch();
  if (outcome.targets == 0) return epoch;  // none of these samples could be used: no step
  state_.step = number;
  state_.epoch = group.epoch;
  state_.samples += outcome.samples;
  state_.recordings += outcome.recordings;
  state_.numbers = parts_.step.state();
  state_.has_due_work = true;
  const auto counted = count_left_out(outcome, group);
  report(group, outcome, rate, stepping, epoch && *epoch != group.epoch);
  if (counted || (!epoch && parts_.peers)) return epoch;
  if (!epoch) log(Level::warning, epoch.error().text());  // that it gives up explains more of what was learned
  return give_up(counted.error());
}

void Trainer::report(const Group& group, const StepOutcome& outcome, double rate, double stepping, bool ends_epoch) {
  const double waited = std::exchange(waited_, 0);
  state_.seconds += stepping + waited;
  parts_.watcher.stepped({.state = state_,
                          .outcome = outcome,
                          .ids = group.ids,
                          .rate = rate,
                          .steps = options_.length.expected(state_.step, state_.recordings),
                          .waited = waited,
                          .seconds = stepping + waited,
                          .made = group.made,
                          .ends_epoch = ends_epoch});
}

/// Evaluations and checkpoints that are due after a step.
Result<void> Trainer::run_due_work(bool ends_epoch) {
  const auto due = [&](std::int32_t every) { return every > 0 && state_.step % every == 0; };
  state_.has_due_work = false;
  const bool evaluates = parts_.evaluate && (due(options_.eval_steps) || (ends_epoch && options_.eval_steps == 0));
  const bool keeps = due(options_.save_steps) || ends_epoch;
  if (!evaluates && !keeps) return {};
  parts_.watcher.paused();
  auto done = evaluates ? evaluate_step(keeps) : save();
  parts_.watcher.resumed();
  return done;
}

/// All that a step brings with it, when the epoch of the next one is known; the end of the training, where it does.
std::optional<Result<TrainingEnd>> Trainer::after_step(std::int64_t next) {
  TRY(run_due_work(next != state_.epoch));
  ring_.go_on();
  if (gives_up()) return finish(TrainingEnd::no_progress);
  if (state_.evaluation_due) return finish(TrainingEnd::interrupted);
  return std::nullopt;
}

/// Evaluates the averages, for which there may be no memory either. They stay in place: what is published is what was
/// evaluated.
Result<TaskScores> Trainer::evaluated(std::optional<AveragesInPlace>& averages) {
  try {
    free_step_memory();  // its threads need some, and its sizes are no step's, nor a step's its own
    averages.emplace(parts_.task, parts_.step);
    auto scores = parts_.evaluate();
    free_step_memory();
    return scores;
  } catch (const std::exception& problem) {
    if (!is_out_of_memory(problem)) throw;
    return tl::unexpected(failure_of(problem, "the network could not be evaluated",
                                     "The checkpoint is whole: go on with " + field("resume") +
                                         " where there is more memory, or "
                                         "evaluate it with 'tutti evaluate'"));
  }
}

/// How bad the network is, as the first process evaluates it; the others learn it from there.
Result<double> Trainer::score(std::optional<AveragesInPlace>& averages) {
  std::string value;
  Result<TaskScores> scores{};
  const auto evaluator = [&]() -> Result<void> {
    if (is_first()) scores = evaluated(averages);
    return {};
  };
  const auto outcome = parts_.peers ? parts_.peers->run_and_wait("evaluates the network", evaluator) : evaluator();
  if (!outcome) {
    has_lost_peers_ = true;
    return tl::unexpected<Error>(outcome.error());
  }
  if (is_first()) {
    if (scores) {
      value = number_text(scores->rank);
      parts_.watcher.evaluated(state_, *scores, scores->rank < state_.best_score);
    } else if (scores.error().fault == Fault::cancelled) {
      value = kCutShort;
    }
  }
  const auto first = all_gather(value).front();
  if (first == kCutShort) return fail(Fault::cancelled, "the evaluation was cut short");
  cannot_evaluate_ = first.empty();
  if (!scores) return tl::unexpected<Error>(scores.error());
  if (first.empty()) return fail(Fault::device, "the first process could not evaluate the network");
  return *number_in<double>(first);
}

Result<void> Trainer::evaluate() {
  state_.evaluation_due = false;  // nor is it where there is nothing to evaluate with any more
  if (!parts_.evaluate) return {};
  std::optional<AveragesInPlace> averages;
  const auto found = score(averages);
  state_.evaluation_due = !found && found.error().fault == Fault::cancelled;
  if (state_.evaluation_due) return {};
  if (!found) return tl::unexpected<Error>(found.error());
  state_.evaluated_step = state_.step;
  const bool best = *found < state_.best_score;
  state_.without_progress = best ? 0 : state_.without_progress + 1;
  if (best) {
    state_.best_score = *found;
    state_.best_step = state_.step;
  }
  return best && is_first() ? folder_.publish(state_.step) : Result<void>{};
}

/// keeps: the step has a checkpoint, written while it is evaluated, which records that the score is still to come.
/// Whatever kills the process then loses no step, and the resumed training makes up for the evaluation. A step that is
/// found the best has a checkpoint anyhow.
Result<void> Trainer::evaluate_step(bool keeps) {
  if (keeps) {
    state_.evaluation_due = true;
    if (auto saved = save(); !saved) return saved;
  }
  const auto done = evaluate();
  if (has_lost_peers_)
    return done;  // a checkpoint needs every process's position: one would wait an hour for one that
                  // is gone
  if (done && !keeps && state_.best_step != state_.step) return done;
  const auto saved = save();  // what was learned stays, even where it could not be evaluated
  return done ? saved : done;
}

/// The evaluation that an interruption cut short, of the weights that it was to score.
Result<void> Trainer::run_due_evaluation() {
  if (!state_.evaluation_due) return {};
  auto done = evaluate();
  return done && !state_.evaluation_due ? save() : done;
}

/// Where this step has its checkpoint already, it gets what is known since: no weight has changed.
Result<void> Trainer::save() {
  const bool has_tensors = std::exchange(saved_step_, state_.step) == state_.step;
  note_positions();
  const auto write = [&] { return has_tensors ? folder_.amend(state_) : folder_.save(state_); };
  const auto handed = is_first() ? write() : Result<void>();
  if (cannot_evaluate_ && parts_.peers)  // as in give_up()
    return parts_.peers->run_and_wait("keeps what was learned",
                                      [&] { return handed ? folder_.finish_checkpoints() : handed; });
  return handed;
}

/// Where every process is in its data, and where memory ran out. A limit that was kept goes on to say where that was,
/// which may have been more than there is now.
void Trainer::note_positions() {
  state_.positions = all_gather(position_);
  const auto rows = parts_.step.row_limit().value_or(0);
  const auto own = rows == kept_limit_.rows ? kept_limit_ : RowLimit{rows, memory_for(parts_.task.device())};
  state_.row_limits.clear();
  for (const auto& value : all_gather(show_row_limit(own))) state_.row_limits.push_back(read_row_limit(value));
}

bool Trainer::is_over() {
  if (options_.max_steps > 0 && state_.step >= options_.max_steps) return true;
  return options_.max_time > Seconds(0) && any_rank(seconds_since(begun_) >= options_.max_time.count());
}

Result<TrainingEnd> Trainer::run() {
  TRY(run_due_evaluation());
  if (state_.evaluation_due) return finish(TrainingEnd::interrupted);
  if (gives_up()) return finish(TrainingEnd::no_progress);
  auto epoch = next_epoch();
  if (epoch && state_.has_due_work)
    if (auto end = after_step(*epoch)) return *std::move(end);
  while (epoch && *epoch != kNoEpoch && !is_over()) {
    const auto place = position_;
    auto group = collect(*epoch);
    if (!group) {
      position_ = place;  // no step was made of its batches
      return end_with(group.error());
    }
    const auto step = state_.step;
    epoch = take_step(*group);
    if (!epoch) break;
    if (state_.step != step)
      if (auto end = after_step(*epoch)) return *std::move(end);
    if (any_rank(is_interrupted())) return finish(TrainingEnd::interrupted);
  }
  if (!epoch) return end_with(epoch.error());
  if (*epoch == kNoEpoch && state_.step == 0)
    return fail(Fault::corrupt, "the training ended before its first step: no sample could be used",
                "See " + (options_.out / "bad_samples.jsonl").string());
  return finish(TrainingEnd::finished);
}

}  // namespace tutti
