#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "decode/device_token_selector.h"
#include "decode/stepper.h"
#include "options.h"
#include "report.h"
#include "worker/network.h"

namespace tutti {

/// Calls a second, after one call to warm up; at least three calls, and as long as `least`. `call` waits for the
/// device.
double rate_of(Seconds least, const std::function<void()>& call);

/// What this device was seen to do.
struct Peaks {
  double flops = 0;      // FLOP/s of a large product of matrices
  double bandwidth = 0;  // bytes/s, read and written, of a large copy
};

/// type: of the matrices.
Peaks measure_peaks(at::Device device, at::ScalarType type);

/// The token selection of sequences in the middle of a text, a row of logits each, as a worker does it behind a step.
class StepSelection {
 public:
  /// beams: 0 for greedy sequences, else the rows of a search's beams follow each other.
  StepSelection(std::size_t rows, std::int32_t beams);

  /// logits: [sequences, n_vocab], of a vocabulary of Whisper's. Waits for their device.
  void select_tokens(const at::Tensor& logits);

 private:
  std::vector<Sequence> live_{};
  std::vector<std::int64_t> rows_{};
  std::vector<std::int64_t> no_sot_{};
  DeviceTokenSelector selector_{};
};

/// Windows whose texts are 100 tokens long already, and step together. The network must outlive it.
class SteppedWindows {
 public:
  /// windows: at least `together`, which share nothing that a cache could keep. beams: 0 for a greedy sequence of each.
  SteppedWindows(const WhisperModel& model, const std::optional<StepDevice>& device, std::span<const CrossKv> windows,
                 std::int32_t together, std::int32_t beams);

  std::int32_t rows() const { return static_cast<std::int32_t>(steps_.size()); }
  /// One step, the same every time; enqueues only.
  at::Tensor step() { return stepper_.decode_there(steps_); }
  /// One step and the selection of its tokens, where the logits are. Waits for the device.
  void step_and_select() { rules_.select_tokens(step()); }

 private:
  std::vector<std::int32_t> before_;
  ModelStepper stepper_;
  StepSelection rules_;
  std::vector<SequenceStep> steps_{};
};

struct CheckedType {
  ComputeType type;
  double tolerance = 0;  // relative to float32 on the CPU

  std::string name() const { return std::string(type.name()); }
};

/// What the device can compute in, float32 first, and of that what `names` lists, where it lists any. On a CPU the
/// operators of int8_float16 run, too, in float32.
std::vector<CheckedType> compute_types(at::Device device, const std::vector<std::string>& names);

/// A Whisper's shape by its name among kSizeNames.
WhisperDims dims_named(const std::string& size);

/// Sequences that step together: as requested, or what suits the device.
std::vector<std::int32_t> slots_on(at::Device device, const CheckOptions& options);

/// A waving log-mel, the same everywhere: [n_mels, 2 * n_audio_ctx] float32 on the CPU.
at::Tensor test_mel(const WhisperDims& dims);

/// A small network whose weights are the same everywhere.
WhisperModel small_random_model(at::Device device, ComputeType type);

/// The devices of this process, and what they may read of each other: of each its name, of each ordered
/// pair whether the one's copies read the other's memory directly. `passed` requires that what is copied to every
/// device, from there to every other one and back, is the same.
void check_device(Report& report, at::Device device, const CheckOptions& options);

/// The kernel that aligns a voice's clips against plain loops, bit by bit, and words' times and probabilities of every
/// type against float32 on the CPU. Part of `parity`.
void check_alignments(Report& report, at::Device device, const std::vector<CheckedType>& types);

/// Logits of every compute type against float32 on the CPU: a small model with random weights, and --model's if given.
void check_parity(Report& report, at::Device device, const CheckOptions& options);

/// Static decoder steps against the model's own, in buckets of every kind: enqueued and, on a GPU, as CUDA graphs; on a
/// CPU by the kernels' host versions; of single rows and of searches whose --beams (by default five) read their window
/// once, with prompts of 4 and 32 tokens. A small network, then those of --sizes (on a GPU by default large-v3) with
/// --slots. `passed` requires equal logits and that nothing fell back to slower steps; the value is the largest error
/// seen, also the one that missed its tolerance.
void check_steps(Report& report, at::Device device, const CheckOptions& options);

/// Rules, choices, sums and draws of a step's token selection on the device that holds its logits, against the host's
/// selection of every row; and how many steps a second either selects, the host's copy included. With --slots, and each
/// of them times --beams.
void check_selection(Report& report, at::Device device, const CheckOptions& options);

/// A worker process of this very program: that it survives a crash, and that it backs off when memory runs out, without
/// losing or changing a window.
void check_worker(Report& report, at::Device device, const CheckOptions& options);
/// What that process loads.
Result<LoadedModel> load_check_model(const LoadModel& request);

/// Windows and tokens a second with random weights, × real time at 100 tokens a window, and which share that is of what
/// this device was seen to do: the encoder of a large product, the decoder of a copy. Also prompts, and beams where
/// requested; on a GPU both as rows that read their window once and as rows that read it apart. Steps that fell back to
/// a slower way are a failure.
void measure_speed(Report& report, at::Device device, const CheckOptions& options);

/// Which kernels an encoding and a decoder step with its selection wait for: microseconds and launches of the largest
/// ones, of all together, and of the whole as the host waits for it. By torch's profiler (Kineto on CUPTI), so it needs
/// a GPU.
void time_kernels(Report& report, at::Device device, const CheckOptions& options);

}  // namespace tutti
