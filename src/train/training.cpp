#include "train/training.h"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/field_names.h"
#include "base/files.h"
#include "base/log.h"
#include "base/try.h"
#include "model/device_name.h"
#include "model/gpu.h"
#include "train/checkpoint/folder.h"
#include "train/device_copies.h"
#include "train/report/reporter.h"
#include "train/stop_signals.h"

namespace tutti {
namespace {

/// Fault::usage where OUT/model is not as this training wrote it: what was edited would be replaced.
Result<void> expect_own_model(const std::filesystem::path& out) {
  const auto model = out / "model";
  const auto whole = check_digests(model);
  if (whole || whole.error().fault != Fault::corrupt) return {};
  return fail(Fault::usage, model.string() + " would be replaced, and was edited: " + whole.error().what,
              "Move it away to keep it, or remove it");
}

/// The first process reports; the others only report what it cannot know.
class NullTrainingWatcher : public TrainingWatcher {
 public:
  void stepped(const StepReport&) override {}
  void evaluated(const TrainingState&, const TaskScores&, bool) override {}
  void refused(const std::string& id, const std::string& why) override {
    if (reported_.insert(id).second) log(Level::warning, why);
  }

 private:
  std::set<std::string> reported_{};
};

std::optional<int> gpu_of(at::Device device) {
  return device.is_cuda() ? std::optional<int>(index_of(device)) : std::nullopt;
}

/// The cores of both devices, where a set of them makes batches ready; else 0. On the thread of the steps.
int cores_of(const Task& task) {
  const auto data = task.data_stage().cores.cores;
  cpu_set_t both;
  if (data.empty() || ::sched_getaffinity(0, sizeof both, &both) != 0) return 0;
  for (const int core : data) CPU_SET(static_cast<std::size_t>(core), &both);
  return CPU_COUNT(&both);
}

Result<std::unique_ptr<Reporter>> reporter_of(const ReadyTraining& training, const TrainingState& state) {
  const auto detail = TRY(log_level_variable("TRAINER_LOG_LEVEL"));
  return Reporter::open({.out = training.options.out,
                         .last_step = state.step,
                         .evaluation_due = state.evaluation_due,
                         .most_time = training.options.max_time,
                         .gpu = gpu_of(training.task.device()),
                         .cores = cores_of(training.task),
                         .shares_cores = training.task.device().is_cpu() && cores_of(training.task) == 0,
                         .accumulation = training.options.accumulation,
                         .log_steps = training.log_steps,
                         .log_order = training.log_order,
                         .detail = detail});
}

/// Begins to report: logs the settings of the training, and keeps them where --resume looks for them. Not before all
/// processes have accepted them: what is refused must not replace what can go on.
Result<std::unique_ptr<Reporter>> take_over(const ReadyTraining& training, const TrainingState& state) {
  auto reporter = reporter_of(training, state);
  if (!reporter) return reporter;
  const CheckpointFolder checkpoints(training.options.out);
  checkpoints.clear_leftovers();
  checkpoints.set_aside_behind(state.step);
  const auto& settings = training.options.settings;
  std::printf("%s\n", settings.c_str());
  std::fflush(stdout);
  TRY(write_file_atomically(training.options.out / "config.toml", settings));
  return reporter;
}

/// Logs how batches reach a GPU that others make ready for it.
void report_link(const Task& task) {
  const auto from = task.data_stage().device;
  if (const auto link = probe_link(from, task.device()))
    log(Level::info, "batches go from " + from.str() + " to " + task.device().str() + " " + show_link(*link));
}

/// Elsewhere the requested steps are made, however many epochs that takes.
void report_epochs(const ReadyTraining& training, std::int64_t steps, TrainingEnd end) {
  const auto& options = training.options;
  const bool ends_by_steps = training.epochs == 0 || steps >= options.max_steps;
  if (end != TrainingEnd::finished || ends_by_steps || options.max_time > Seconds(0)) return;
  log(Level::info, "epochs " + std::to_string(training.epochs) + " were over after " + std::to_string(steps) +
                       " steps, before max-steps " + std::to_string(options.max_steps) + "; '" + field("resume") + " " +
                       field("epochs") + " 0' goes on until then");
}

/// The options with the ring that was chosen; `choice` and `training` outlive the trainer.
TrainerOptions with_ring(const ReadyTraining& training, const RingChoice& choice) {
  TrainerOptions options = training.options;
  options.ring = choice.options();
  if (!training.wait_in_feed) return options;
  if (choice.behind() > 0) training.wait_in_feed(choice.behind());
  options.ring.wait_behind = [&training, &choice](int more) { training.wait_in_feed(choice.behind() + more); };
  return options;
}

}  // namespace

Result<ProcessGroup> join_processes(const std::filesystem::path& out) {
  const auto found = TRY(rendezvous());
  ProcessGroup group;
  if (!found || found->rank == 0) {
    group.folder = TRY(hold_folder(out));
    CheckpointFolder(out).put_back();
    TRY(expect_own_model(out));
  }
  if (!found) return group;
  auto peers = TRY(connect(*found));
  group.peers = std::move(peers);
  return group;
}

Result<ProcessGroup> join_alone(const std::filesystem::path& out, const std::string& what, const std::string& hint) {
  auto group = TRY(join_processes(out));
  if (group.peers) return fail(Fault::usage, what + " is trained by one process", hint);
  return group;
}

AdamWOptions adamw_of(const OptimiserSettings& o) {
  return {.beta1 = o.beta1, .beta2 = o.beta2, .epsilon = o.epsilon, .weight_decay = o.weight_decay};
}

StepOptions step_options(const OptimiserSettings& o, const ArithmeticSettings& a) {
  return {.precision = a.precision, .clip = o.clip, .ema = o.ema, .seed = a.seed};
}

void warn_of_precision(at::Device device, const PrecisionWord& precision) {
  if (!device.is_cuda()) return;
  const auto card = gpu::facts(index_of(device));
  const auto unsupported = card ? unsupported_reason(precision, card->capability) : std::string();
  if (!unsupported.empty()) log(Level::warning, "precision " + precision.word() + ": " + unsupported);
}

TrainingLength length_of(std::int64_t samples, const std::function<std::int64_t(std::int64_t)>& steps,
                         std::int64_t epochs, std::int64_t max_steps, Peers* peers) {
  const auto own = std::to_string(samples);
  TrainingLength length{.most = max_steps};
  for (const auto& text : peers ? peers->gather(own) : std::vector<std::string>{own}) {
    const std::int64_t theirs = std::stoll(text);
    length.least = std::max(length.least, epochs * steps(theirs));
    length.recordings += epochs * theirs;
  }
  return length;
}

Result<TrainingEnd> run_training(ReadyTraining training, TrainingState state) {
  const bool reports = !training.is_trial && (!training.peers || training.peers->rank() == 0);
  auto reporter = TRY(reports ? take_over(training, state) : Result<std::unique_ptr<Reporter>>(nullptr));
  if (reporter) report_link(training.task);
  if (reporter && training.feed_report) reporter->watch_feed(training.feed_report);
  catch_stop_signals();
  NullTrainingWatcher null_watcher;
  TrainingWatcher& watcher = reporter ? static_cast<TrainingWatcher&>(*reporter) : null_watcher;
  const RingChoice choice(training.ring);
  Trainer trainer({.task = training.task,
                   .step = training.step,
                   .next = training.next,
                   .evaluate = training.evaluate,
                   .interrupted = stop_requested,
                   .watcher = watcher,
                   .peers = training.peers},
                  with_ring(training, choice), std::move(state));
  if (reporter) reporter->watch_ring([&trainer] { return trainer.ring(); });
  auto end = trainer.run();
  if (!end || !reporter) return end;
  reporter->ended(trainer.state(), *end);
  choice.remember(trainer.ring());
  report_epochs(training, trainer.state().step, *end);
  return end;
}

}  // namespace tutti
