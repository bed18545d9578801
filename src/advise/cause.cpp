#include "advise/cause.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tutti {
namespace {

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

}  // namespace tutti
