#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"
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
RunOptions bench_options(Seconds most);

/// What one setting made of the files. Text is joined over the files in their order.
struct BenchTrial {
  BenchSetting setting{};
  std::string device_name{};
  std::string compute_type{};  // what was really taken
  Seconds audio{};             // transcribed
  Seconds elapsed{};           // without loading the model
  Seconds load{};
  std::optional<Bytes> memory{};      // resident in the worker at its peak; none: the kernel does not say
  std::optional<Bytes> gpu_memory{};  // of its GPU's, likewise; none: it has none, or the driver does not say
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
                             const RunOptions& base, StopSignal& stop);

}  // namespace tutti
