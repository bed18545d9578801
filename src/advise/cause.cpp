#include "advise/cause.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace tutti {
namespace {

constexpr double kNoticedCores = 0.2;
constexpr double kNoticedShare = 0.02;
constexpr double kNoticedPages = 100;     // a second
constexpr double kNoticedUnequal = 0.05;  // what longest first gains
constexpr double kSameRate = 0.02;
constexpr double kManyCoreWaits = 0.1;  // of the time of a device's thread
constexpr double kManyStalls = 0.2;     // share of the time that stalls take, from which threads are too many

constexpr std::array<std::pair<std::string_view, Cause>, 20> kStages{{
    {"read", Cause::source},
    {"probe", Cause::source},
    {"decode", Cause::audio_decoding},
    {"resample", Cause::audio_decoding},
    {"listen", Cause::speech_detection},
    {"features", Cause::features},
    {"prepare", Cause::features},
    {"make", Cause::clip_making},
    {"augment", Cause::augmentation},
    {"batch", Cause::batch_assembly},
    {"gather", Cause::batch_assembly},
    {"ring", Cause::copy},
    {"step", Cause::device_compute},
    {"transcribe", Cause::device_compute},
    {"align", Cause::device_compute},
    {"write", Cause::writing},
    {"print", Cause::writing},
    {"reading of files", Cause::audio_decoding},
    {"reading of the set", Cause::source},
    {"the network", Cause::device_compute},
}};

int threads_on_cores(const RunRecording& recording) {
  int threads = 0;
  for (const RecordedStage& stage : recording.stages)
    if (stage.resource == StageResource::cpu) threads += stage.threads;
  return threads;
}

/// The run with no more threads than cores on each computing stage.
RunRecording within_cores(RunRecording recording) {
  for (RecordedStage& stage : recording.stages)
    if (stage.resource == StageResource::cpu) stage.threads = std::min(stage.threads, recording.cores);
  return recording;
}

RunRecording longest_first(RunRecording recording) {
  const std::size_t items = recording.stages.front().items.size();
  std::vector<std::size_t> order(items);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto whole = [&](std::size_t item) {
    Seconds sum{};
    for (const RecordedStage& stage : recording.stages)
      if (item < stage.items.size()) sum += stage.items[item];
    return sum;
  };
  std::ranges::stable_sort(order, std::greater<>(), whole);
  for (RecordedStage& stage : recording.stages) {
    if (stage.items.size() != items) continue;
    std::vector<Seconds> sorted;
    for (const std::size_t item : order) sorted.push_back(stage.items[item]);
    stage.items = std::move(sorted);
  }
  return recording;
}

/// Devices whose own thread had no core for much of its time, while no other program had it.
void add_core_waits(const RunRecording& recording, std::vector<SideCause>& found) {
  for (const RecordedStage& stage : recording.stages) {
    const Seconds busy = stage.times.busy;
    if (busy.count() <= 0 || stage.core_wait < kManyCoreWaits * busy) continue;
    found.push_back(
        {.cause = Cause::too_many_threads, .core_wait = stage.core_wait / busy, .flag = stage.threads_flag});
  }
}

}  // namespace

std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::clip_making: return "audio decoding and features";
    case Cause::source: return "source or disk";
    case Cause::audio_decoding: return "audio decoding";
    case Cause::speech_detection: return "speech detection";
    case Cause::features: return "features";
    case Cause::augmentation: return "augmentation";
    case Cause::batch_assembly: return "batch assembly";
    case Cause::copy: return "copy to the device";
    case Cause::device_compute: return "device compute";
    case Cause::writing: return "writing";
    case Cause::memory_pressure: return "memory pressure";
    case Cause::cpu_quota: return "CPU quota";
    case Cause::too_many_threads: return "too many threads";
    case Cause::other_processes: return "other processes";
    case Cause::throttling: return "thermal or power limit";
    case Cause::unequal_lengths: return "unequal lengths at the end";
    case Cause::slow_files: return "slow files";
    case Cause::balanced: return "none (balanced)";
    case Cause::unknown: break;
  }
  return "unknown";
}

Cause cause_of(const Bottleneck& limit) {
  if (limit.share < kLeastGain) return Cause::balanced;
  const auto found = std::ranges::find(kStages, limit.stage, [](const auto& stage) { return stage.first; });
  if (found != kStages.end()) return found->second;
  return limit.resource == StageResource::device ? Cause::device_compute : Cause::unknown;
}

std::vector<SideCause> side_causes(const RunRecording& recording, const MachineEvidence& evidence) {
  std::vector<SideCause> found;
  const auto add = [&](Cause cause, bool is_noticed, double number, double gain = 0) {
    if (is_noticed) found.push_back({cause, number, gain});
  };
  add(Cause::other_processes, evidence.other_cores >= kNoticedCores, evidence.other_cores);
  add(Cause::cpu_quota, evidence.throttled_cores >= kNoticedShare * recording.cores, evidence.throttled_cores);
  if (evidence.memory_stall >= kNoticedShare || evidence.swapped_a_second >= kNoticedPages)
    found.push_back({Cause::memory_pressure, evidence.memory_stall, 0, evidence.swapped_a_second});
  add(Cause::throttling, evidence.hot >= kNoticedShare, evidence.hot);
  const double held_up = recording.elapsed.count() > 0 ? recording.held_up / recording.elapsed : 0;
  add(Cause::slow_files, held_up >= kNoticedShare && held_up < 1, held_up, held_up / (1 - held_up));
  if (recording.stages.empty() || recording.stages.front().items.size() < 2) return found;
  const double rate = replayed_rate(recording);
  if (rate <= 0) return found;
  const int surplus = threads_on_cores(recording) - recording.cores;
  const RunRecording fewer = within_cores(recording);
  const bool gains_nothing =
      threads_on_cores(fewer) < threads_on_cores(recording) && replayed_rate(fewer) >= (1 - kSameRate) * rate;
  add(Cause::too_many_threads,
      gains_nothing && evidence.cpu_stall >= kManyStalls && evidence.other_cores < kNoticedCores, surplus);
  if (evidence.other_cores < kNoticedCores) add_core_waits(recording, found);
  const double gain = replayed_rate(longest_first(recording)) / rate - 1;
  add(Cause::unequal_lengths, gain >= kNoticedUnequal, gain / (1 + gain), gain);
  return found;
}

}  // namespace tutti
