#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hub/memory_plan.h"
#include "planning/plan_devices.h"

namespace tutti {

/// Windows in flight on a device of which nothing else is known.
inline constexpr int kWindowsInFlight = 8;

/// What a model takes and leaves on one device, by the arithmetic of hub/memory_plan.h.
struct Capacity {
  Bytes weights{};           ///< with the workspace of an encoding
  Bytes window{};            ///< each, with its beams
  std::int64_t fits{};       ///< windows; 0: not even one beside the weights
  std::int32_t in_flight{};  ///< windows worth having in flight: what the worker steps together, and a quarter more
};

struct CapacityQuestion {
  ModelShape shape{};
  std::string compute_type{};
  std::int32_t beams = 1;
  std::int32_t text_positions = 0;  ///< tokens of a sequence, as memory_plan's
};

/// On a GPU the driver's half gigabyte and the headroom of admission (5 %, at least 512 MiB) are left free; on a CPU a
/// tenth. Windows share the network's weights: no job loads a model of its own.
Capacity capacity(const CapacityQuestion& question, const PlanTarget& target);

/// What this machine's memory is needed for, beside a CPU device's model. Measured: 6 MB for `tutti` and 6 MB for a
/// decoding process over an hour of WAV (samples are on disk), 116 MB for an engine, 355 MB more for its CUDA half.
struct HostNeed {
  Bytes control{};  ///< `tutti` and as many decoders as feed the devices, FFmpeg's libraries allowed for
  Bytes workers{};  ///< all devices' processes
  Bytes together() const { return {control.value + workers.value}; }
};
HostNeed host_need(const CapacityQuestion& question, const std::vector<PlanTarget>& targets, int cores);

}  // namespace tutti
