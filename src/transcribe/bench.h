#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/owned.h"
#include "base/units.h"
#include "device/telemetry/sampler.h"
#include "transcribe/run.h"

namespace tutti {

/// One way to run: what a trial compares.
struct BenchSetting {
  std::string device = "cpu";
  std::string compute_type = "float32";
  std::int32_t batch_size = 1;
};

/// Every combination, the most exact first: it is what the others' transcripts are compared with.
std::vector<BenchSetting> bench_grid(const std::vector<std::string>& devices, const std::vector<std::string>& types,
                                     const std::vector<std::int32_t>& batch_sizes);

/// What is the same in all trials: the first `most` of every file, in the mode of `tutti transcribe --batched`,
/// greedily and at temperature 0 alone, so that all settings do the same work. The caller sets program and model.
TranscribeOptions bench_options(Seconds most);

/// What one setting made of the files. Text is joined over the files in their order.
struct BenchTrial {
  BenchSetting setting{};
  std::string device_name{};
  std::string compute_type{};  // what was really taken
  Seconds audio{};             // transcribed
  Seconds elapsed{};           // without loading the model
  Seconds load{};
  std::optional<Bytes> memory{};      // resident in the worker at its peak; none: the kernel does not say
  std::optional<Bytes> gpu_memory{};  // GPU memory, likewise; none: the worker uses no GPU, or the driver does not say
  std::size_t windows = 0;            // encoded
  std::size_t decoder_steps = 0;
  std::string text{};
  std::optional<Error> error{};  // why it could not run; then all but `setting` is empty

  double speed() const { return elapsed.count() > 0 ? audio / elapsed : 0; }
};

/// Transcribes `files` once with `setting`, writing nothing. `base`: everything that is the same in all trials. A trial
/// that cannot run carries its error. A Result fails when `stop` was raised, and where the recordings themselves
/// cannot be measured with (one that cannot be read, no speech in any): every other setting would find the same.
Result<BenchTrial> run_trial(const std::vector<std::filesystem::path>& files, const BenchSetting& setting,
                             const TranscribeOptions& base, StopSignal& stop);

/// What bounds a model on a device in one compute type; `tutti-engine limits` measures and prints it.
struct DeviceLimits {
  double flops = 0;           // a second, in a large product of matrices
  double bandwidth = 0;       // bytes of memory a second
  double window_flops = 0;    // encoder and cross-attention keys/values of a window
  double step_bytes = 0;      // weights a decoder step reads, once for all sequences that step together
  double sequence_bytes = 0;  // keys and values it reads for each of them
};

/// A name and a number a line. Fault::corrupt names what is missing.
Result<DeviceLimits> parse_limits(std::string_view text);

/// Starts the engine to measure; takes some seconds. Blocks.
Result<DeviceLimits> query_limits(const std::filesystem::path& model, const std::string& device,
                                  const std::string& compute_type);

/// The least time the arithmetic allows: every window encoded at the full speed of matrix products, every decoder step
/// reading at the full speed of memory, `batch_size` sequences sharing each reading of the weights. What the other
/// parts cost is not in it, so nothing ever reaches it.
Seconds least_time(const DeviceLimits& limits, const BenchTrial& trial);

/// A trial with its score beside the others.
struct ScoredTrial {
  BenchTrial trial{};
  std::optional<double> word_errors{};     // word error rate against the first trial that ran; none: it did not run
  std::optional<double> share_of_limit{};  // least_time over the time it took; none: the limit is not known
};

struct BenchResult {
  std::vector<ScoredTrial> trials{};         // in the order they were run
  std::optional<std::size_t> reference{};    // whose words the others' are compared with: the first that ran
  std::optional<std::size_t> recommended{};  // the fastest whose transcript agrees; none: nothing ran
};

/// Words that may differ from the most exact setting's: half a point.
inline constexpr double kAgrees = 0.005;

/// `limits[i]` belongs to `trials[i]`. Texts are compared behind Whisper's basic normaliser.
BenchResult score_trials(const std::vector<BenchTrial>& trials, const std::vector<std::optional<DeviceLimits>>& limits);

/// The flags of `tutti transcribe` that run a setting.
std::string flags_of(const BenchSetting& setting);

/// What this process and its children hold of a GPU's memory. It is what the driver reports, or, where the driver shows
/// no processes (in a container), what is used beyond what was used `before` they began. Nothing where neither is
/// known.
std::optional<Bytes> held_by_us(const GpuMemory& memory, std::optional<Bytes> before);

/// The most memory that the worker of a trial was seen to hold. Not thread-safe.
class PeakMemory {
 public:
  /// `device` as --device names it. To be made before the worker starts: what a GPU holds until then is not the
  /// worker's. Watches a GPU from now on; waits up to three seconds for its first values.
  explicit PeakMemory(const std::string& device);

  void look();
  /// The peak in this machine's memory; nothing where the worker was never looked at, or the kernel does not report it.
  std::optional<Bytes> resident() const { return resident_; }
  /// The peak in the GPU's memory; nothing on a CPU, on a slice of a GPU, and where the driver does not report it.
  std::optional<Bytes> on_gpu() const { return on_gpu_; }

 private:
  std::optional<GpuMemory> gpu_memory() const;

  std::string uuid_{};  // UUID of the GPU; empty: none
  std::unique_ptr<Sampler> sampler_{};
  std::optional<Bytes> before_{};
  std::optional<Bytes> resident_{};
  std::optional<Bytes> on_gpu_{};
};

/// The recording that comes with the program, for measurements without a recording of one's own: 29 s of spoken digits
/// by several people. `path` leads to it while `file` is held.
struct BundledClip {
  OwnedFd file;
  std::filesystem::path path;
};

Result<BundledClip> bundled_clip();

}  // namespace tutti
