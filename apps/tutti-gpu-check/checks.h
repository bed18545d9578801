#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "report.h"
#include "worker/network.h"

namespace tutti {

struct CheckedType {
  ComputeType type;
  double tolerance = 0;  // relative to float32 on the CPU

  std::string name() const { return std::string(type.name()); }
};

/// What the device can compute in, float32 first. On a CPU the operators of int8_float16 run, too, in float32.
std::vector<CheckedType> compute_types(at::Device device);

/// Logits of every compute type against float32 on the CPU: a small model with random weights, and `model` if given.
void check_parity(Report& report, at::Device device, const std::optional<std::filesystem::path>& model);

/// Static decoder steps against the model's own, in buckets of every kind: enqueued and, on a GPU, as CUDA graphs; on a
/// CPU by the kernels' host versions. `passed` requires equal logits and that nothing fell back.
void check_steps(Report& report, at::Device device);

/// Rules, choices, sums and draws of a step's token selection on the device that holds its logits, against the host's
/// selection of every row; and how many steps a second either selects, the host's copy included.
void check_selection(Report& report, at::Device device);

/// A worker process of this very program: that it survives a crash, and that it backs off when memory runs out, without
/// losing or changing a window.
void check_worker(Report& report, at::Device device);
/// What that process loads.
Result<LoadedModel> load_check_model(const LoadModel& request);

/// Windows and tokens a second with random weights, × real time at 100 tokens a window, and which share that is of what
/// this device was seen to do: the encoder of a large product, the decoder of a copy. all: tiny to large-v3 and turbo;
/// else tiny and base.
void measure_speed(Report& report, at::Device device, bool all);

}  // namespace tutti
