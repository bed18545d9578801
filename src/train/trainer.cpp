#include "train/trainer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "train/checkpoint/tensor_file.h"

namespace tutti {
namespace {

/// The averages take the place of the weights for as long as this lives.
class AveragesInPlace {
 public:
  AveragesInPlace(const Task& task, const TrainStep& step) : trained_(task.trained()), averages_(step.averages()) {
    exchange();
  }
  AveragesInPlace(const AveragesInPlace&) = delete;
  ~AveragesInPlace() { exchange(); }

 private:
  void exchange() {
    const c10::AutoGradMode no_gradients(false);
    for (std::size_t i = 0; i < averages_.size(); ++i) {
      const at::Tensor& weight = trained_[i].value;
      const at::Tensor& average = averages_[i].value;
      const auto kept = weight.detach().clone();
      weight.copy_(average);
      average.copy_(kept);
    }
  }

  const std::vector<Parameter>& trained_;
  const std::vector<Parameter>& averages_;
};

/// Copies on the CPU, which training may not change any more.
std::vector<Parameter> copies(const std::vector<Parameter>& tensors) {
  const c10::AutoGradMode no_gradients(false);
  std::vector<Parameter> made;
  for (const auto& tensor : tensors)
    made.push_back({tensor.name, tensor.value.detach().to(at::kCPU, /*non_blocking=*/false, /*copy=*/true)});
  return made;
}

/// Whether what is trained are the network's own tensors, which its own file keeps, and no additions to them.
bool trains_network(const Task& task) {
  const auto weights = task.weights();
  const auto& name = task.trained().front().name;
  return std::ranges::any_of(weights, [&](const Parameter& weight) { return weight.name == name; });
}

/// What a checkpoint keeps beside the network.
std::vector<Parameter> training_tensors(const Task& task, const TrainStep& step) {
  auto all = step.tensors();
  if (!trains_network(task)) all.insert(all.end(), task.trained().begin(), task.trained().end());
  return all;
}

double seconds_since(Clock::Instant begin) {
  return Seconds(Clock::real().now() - begin).count();
}

}  // namespace

Trainer::Trainer(TrainerParts parts, TrainerOptions options, TrainingState state)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      state_(std::move(state)),
      checkpoints_(options_.out),
      saved_step_(state_.step) {
  if (state_.step > 0)
    parts_.step.state() = state_.numbers;
  else
    state_.numbers = parts_.step.state();
}

Result<TrainingState> Trainer::restore(const std::filesystem::path& checkpoint, const Task& task, TrainStep& step) {
  const auto text = read_file(checkpoint / "training.json");
  if (!text) return tl::unexpected<Error>(text.error());
  auto state = read_state(*text);
  if (!state) return fail_in((checkpoint / "training.json").string(), state.error());
  auto read = read_tensors(checkpoint / "training.safetensors", training_tensors(task, step));
  if (read && trains_network(task)) read = read_tensors(checkpoint / "model.safetensors", task.trained());
  if (!read) return tl::unexpected<Error>(read.error());
  return state;
}

/// Whether the next batch belongs to `epoch`; fetches it.
Result<bool> Trainer::goes_on(std::int64_t epoch) {
  if (!ahead_) {
    const auto begin = Clock::real().now();
    auto batch = parts_.next();
    waited_ += seconds_since(begin);
    if (!batch) return tl::unexpected<Error>(batch.error());
    ahead_ = std::move(*batch);
  }
  return ahead_ && ahead_->epoch == epoch;
}

/// The batches of the next step: all of one epoch. None when the feed has ended.
Result<Trainer::Group> Trainer::collect() {
  Group group;
  if (auto begun = goes_on(0); !begun) return tl::unexpected<Error>(begun.error());
  if (ahead_) group.epoch = ahead_->epoch;
  while (std::cmp_less(group.batches.size(), options_.accumulation)) {
    const auto more = goes_on(group.epoch);
    if (!more) return tl::unexpected<Error>(more.error());
    if (!*more) break;
    const auto batch = std::exchange(ahead_, std::nullopt);
    group.position = batch->position;
    auto prepared = parts_.task.prepare(*batch);
    for (const auto& [id, why] : prepared.refused) parts_.watcher.refused(id, why);
    if (prepared.ids.empty()) continue;
    group.ids.insert(group.ids.end(), prepared.ids.begin(), prepared.ids.end());
    group.batches.push_back(std::move(prepared));
  }
  return group;
}

Result<void> Trainer::count_left_out(const StepOutcome& outcome, const Group& group) {
  if (outcome.finite) {
    state_.left_out_in_row = 0;
    return {};
  }
  // float16 finds the scale of its loss by trying.
  if (parts_.step.state().loss_scale > 1) return {};
  ++state_.left_out;
  std::string ids;
  for (const auto& id : group.ids) ids += (ids.empty() ? "" : ", ") + id;
  const auto what =
      "step " + std::to_string(state_.step) + " is no finite number and was left out (samples " + ids + ")";
  if (++state_.left_out_in_row > options_.bad_step_limit)
    return fail(Fault::corrupt, what + "; it is the " + std::to_string(state_.left_out_in_row) + "th in a row",
                "Lower learning-rate, or look at these samples");
  log(Level::warning, what);
  return {};
}

/// Whether the step was the last of its epoch.
Result<bool> Trainer::take_step(const Group& group) {
  const auto begin = Clock::real().now();
  const auto number = state_.step + 1;
  const double rate = options_.schedule.at(number);
  const auto outcome = parts_.step.run(group.batches, number, rate);
  const double stepping = seconds_since(begin);
  const auto more = goes_on(group.epoch);
  if (!more) return more;
  const double waited = std::exchange(waited_, 0);
  state_.step = number;
  state_.epoch = group.epoch;
  state_.samples += outcome.samples;
  state_.position = group.position;
  state_.numbers = parts_.step.state();
  state_.seconds += stepping + waited;
  const auto counted = count_left_out(outcome, group);
  parts_.watcher.stepped({.state = state_,
                          .outcome = outcome,
                          .ids = group.ids,
                          .rate = rate,
                          .waited = waited,
                          .seconds = stepping + waited,
                          .ends_epoch = !*more});
  if (!counted) return tl::unexpected<Error>(counted.error());
  return !*more;
}

/// Evaluations and checkpoints that are due after a step.
Result<void> Trainer::tend(bool ends_epoch) {
  const auto due = [&](std::int32_t every) { return every > 0 && state_.step % every == 0; };
  Result<void> done{};
  if (due(options_.eval_steps) || (ends_epoch && options_.eval_steps == 0)) done = evaluate();
  const bool best = parts_.evaluate && state_.best_step == state_.step;
  if (done && (due(options_.save_steps) || ends_epoch || best)) done = save();
  return done;
}

Result<void> Trainer::evaluate() {
  evaluated_step_ = state_.step;
  if (!parts_.evaluate) return {};
  const AveragesInPlace averages(parts_.task, parts_.step);
  const auto evaluation = parts_.evaluate();
  if (!evaluation) return tl::unexpected<Error>(evaluation.error());
  // Of equal word error rates, fewer wrong characters are progress too.
  const double score = evaluation->wer + 1e-3 * evaluation->cer + 1e-3 * (1 - evaluation->noise_accuracy);
  const bool best = score < state_.best_score;
  state_.without_progress = best ? 0 : state_.without_progress + 1;
  if (best) {
    state_.best_score = score;
    state_.best_step = state_.step;
  }
  parts_.watcher.evaluated(state_, *evaluation, best);
  return best ? publish() : Result<void>{};
}

/// OUT/model becomes the network as it is now.
Result<void> Trainer::publish() {
  NetworkFolder network{.files = parts_.task.files(options_.export_type),
                        .weights = copies(parts_.task.weights()),
                        .weight_type = options_.export_type};
  return writer_.write(
      [path = options_.out / "model", network = std::move(network)] { return write_network(path, network); });
}

Result<void> Trainer::save() {
  saved_step_ = state_.step;
  CheckpointContent content{
      .network = {.files = parts_.task.files("float32"), .weights = copies(parts_.task.weights())},
      .training = copies(training_tensors(parts_.task, parts_.step)),
      .state = state_};
  return writer_.write([this, content = std::move(content)] {
    auto written = checkpoints_.write(content);
    if (written) checkpoints_.prune(options_.keep, content.state.best_step);
    return written;
  });
}

Result<TrainingEnd> Trainer::finish(TrainingEnd end) {
  Result<void> done{};
  const bool whole = end != TrainingEnd::interrupted;
  if (whole && evaluated_step_ != state_.step) done = evaluate();
  if (done && saved_step_ != state_.step) done = save();
  if (done && whole && !parts_.evaluate) {
    const AveragesInPlace averages(parts_.task, parts_.step);
    done = publish();
  }
  if (done) done = writer_.finish();
  if (!done) return tl::unexpected<Error>(done.error());
  return end;
}

Result<TrainingEnd> Trainer::run() {
  while (options_.max_steps == 0 || state_.step < options_.max_steps) {
    const auto group = collect();
    if (!group) return tl::unexpected<Error>(group.error());
    if (group->batches.empty() && !ahead_) break;
    if (group->batches.empty()) continue;  // none of an epoch's last samples could be used
    const auto ends_epoch = take_step(*group);
    if (!ends_epoch) return tl::unexpected<Error>(ends_epoch.error());
    if (auto tended = tend(*ends_epoch); !tended) return tl::unexpected<Error>(tended.error());
    if (options_.patience > 0 && state_.without_progress >= options_.patience) return finish(TrainingEnd::no_progress);
    if (parts_.interrupted && parts_.interrupted()) return finish(TrainingEnd::interrupted);
  }
  return finish(TrainingEnd::finished);
}

}  // namespace tutti
