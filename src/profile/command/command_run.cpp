#include "profile/command/command_run.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <algorithm>
#include <memory>

#include "base/field_names.h"
#include "base/numbers.h"
#include "base/program_paths.h"
#include "base/strings.h"
#include "base/temporary_folder.h"
#include "base/try.h"
#include "metrics/recording_request.h"
#include "profile/core_watch.h"
#include "profile/recording_file.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kProfiled{"batch", "classify", "evaluate", "features", "prepare", "train", "transcribe"};

constexpr Seconds kUsualGpus{0.5}, kOftenGpus{0.1};  // between two readings

/// Has the calling thread, and the processes that it starts, run on these cores alone until its end; none: as before.
class OnCores {
 public:
  explicit OnCores(const std::vector<int>& cores) {
    if (cores.empty() || ::sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    cpu_set_t wanted;
    CPU_ZERO(&wanted);
    for (const int core : cores) {
      fails_ |= !CPU_ISSET(static_cast<std::size_t>(core), &before_);
      CPU_SET(static_cast<std::size_t>(core), &wanted);
    }
    is_set_ = !fails_ && ::sched_setaffinity(0, sizeof wanted, &wanted) == 0;
    fails_ |= !is_set_;
  }
  OnCores(const OnCores&) = delete;
  OnCores& operator=(const OnCores&) = delete;
  ~OnCores() {
    if (is_set_) ::sched_setaffinity(0, sizeof before_, &before_);
  }
  bool fails() const { return fails_; }

 private:
  cpu_set_t before_{};
  bool is_set_ = false, fails_ = false;
};

}  // namespace

bool has_failed(const CommandRun& run) {
  return run.code != kDone && run.code != kSomeFailed;
}

Bytes most_child_memory() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  return Bytes{1024 * std::int64_t{used.ru_maxrss}};
}

Result<CommandRun> run_recorded(const CommandProfile& profile, const std::vector<std::string>& more,
                                ChildStreams streams, const std::string& sped_up, const WaitForEnd& wait) {
  const TemporaryFolder folder;
  if (!folder.path()) return tl::unexpected(folder.path().error());
  const fs::path recording = *folder.path() / "recording.json";
  std::vector<std::string> command = profile.command;
  command.front() = program_paths().tutti.string();
  command.insert(command.end(), more.begin(), more.end());
  const MachineWatch machine;
  const bool watches_gpus = !profile.training || profile.training->watches_gpus;
  std::optional<GpuWatch> gpus;
  if (watches_gpus) gpus.emplace(profile.training ? kOftenGpus : kUsualGpus);
  const RecordingRequest request{.recording = recording,
                                 .warm_up = profile.training ? profile.training->warm_up : 0,
                                 .sped_up = sped_up,
                                 .trace = recording_request().trace};
  const auto cores = std::make_unique<OnCores>(profile.cores);
  if (cores->fails())
    return fail(Fault::missing, "cpu:" + joined(profile.cores, ", cpu:", [](int core) {
                                  return std::to_string(core);
                                }) + ": expected cores that this process may use");
  const auto child = TRY(Child::start(
      {.name = profile.command[1], .command = command, .environment = request.environment(), .streams = streams}));
  CoreWatch cores_wanted(child->pid());
  CommandRun done{.code = wait(*child)};
  done.machine = machine.evidence(cores_wanted.stop());
  done.memory = most_child_memory();
  if (gpus) done.gpus = gpus->stop();
  for (const auto& [number, gpu] : done.gpus)
    if (!gpu.held_back.is_empty()) done.machine.hot = std::max(done.machine.hot, gpu.held_back.mean());
  done.recording = read_recording(recording);
  return done;
}

PhaseDevices phase_devices(const TrainingProfile& training, const CommandRun& run) {
  // As a training takes it: the first GPU, else the processor.
  const auto named = [&](const std::string& device) {
    return device != "auto" ? device : run.gpus.empty() ? "cpu" : "cuda:0";
  };
  PhaseDevices devices{
      .data = named(training.devices.data), .model = named(training.devices.model), .process_memory = run.memory};
  const auto use_of = [&](const std::string& device) {
    constexpr std::string_view kGpu = "cuda:";
    const auto number = device.starts_with(kGpu) ? number_in<int>(device.substr(kGpu.size())) : std::nullopt;
    const auto found = number ? run.gpus.find(*number) : run.gpus.end();
    return found == run.gpus.end() ? GpuUse() : found->second;
  };
  const GpuUse data = use_of(devices.data), model = use_of(devices.model);
  devices.data_load = data.load, devices.model_load = model.load;
  devices.data_memory = data.memory, devices.model_memory = model.memory;
  return devices;
}

bool is_own_command(const std::vector<std::string>& command) {
  return !command.empty() && fs::path(command.front()).filename() == "tutti";
}

std::optional<std::string> why_not_profiled(const std::vector<std::string>& command) {
  if (command.size() < 2) return "expected a command of tutti behind --, found none";
  if (std::ranges::find(kProfiled, command[1]) != kProfiled.end()) return std::nullopt;
  const std::string nearest = nearest_name(command[1], kProfiled);
  return "'" + command[1] + "' cannot be profiled: expected " + joined(kProfiled, ", ") +
         (nearest.empty() ? "" : ". Did you mean '" + nearest + "'?");
}

std::optional<std::string> why_no_experiment(const std::vector<std::string>& command) {
  const std::string kind = command.size() > 2 ? command[2] : "";
  if (command[1] == "features" || (command[1] == "prepare" && (kind == "classifier" || kind == "tts")))
    return std::nullopt;
  return field("experiment") +
         ": expected features, prepare classifier or prepare tts, all of whose stages can be held back, "
         "found " +
         command[1];
}

}  // namespace tutti
