#include "transcribe/bench/trial.h"

#include <algorithm>
#include <span>

#include "transcribe/bench/peak_memory.h"
#include "transcribe/speech_chunks.h"
#include "transcribe/stop_signal.h"

namespace tutti {
namespace {

/// Whether a file fails before the worker has a part in it: every other setting would find the same.
bool is_recordings(const Error& error) {
  switch (error.fault) {
    case Fault::usage:
    case Fault::missing:
    case Fault::corrupt:
    case Fault::unsupported:
    case Fault::refused: return true;
    default: return false;
  }
}

/// Keeps what a trial reports. The worker's memory is queried while it runs.
class TrialObserver final : public RunObserver {
 public:
  TrialObserver(std::size_t files, const std::string& device) : memory_(device), texts_(files), decoded_(files) {}

  void on_ready(const std::string& device, const std::string& compute_type, Seconds load) override {
    trial_.device_name = device;
    trial_.compute_type = compute_type;
    trial_.load = load;
  }
  void on_decoded(std::size_t index, const Recording&) override { decoded_[index] = true; }
  void on_progress(std::size_t, Seconds, const std::vector<Segment>&) override { memory_.look(); }
  void on_done(const FileOutcome& outcome, const Transcript& transcript) override {
    memory_.look();
    texts_[outcome.index] = transcript.text;
    decodings_ += outcome.counts.decodings;
    trial_.windows += outcome.counts.windows;
    trial_.decoder_steps += outcome.counts.decoder_steps;
  }
  void on_failed(std::size_t index, const Error& error) override {
    if (!recordings_fault_ && !decoded_[index] && is_recordings(error)) recordings_fault_ = error;
    trial_.error = error;
  }

  /// That the recordings can be measured with, whatever the setting.
  Result<void> expect_speech(std::span<const std::filesystem::path> files) const {
    if (recordings_fault_) return tl::unexpected(*recordings_fault_);
    if (trial_.error || decodings_ > 0) return {};
    return fail(Fault::missing,
                (files.size() == 1 ? files.front().string() : "the recordings") +
                    ": expected speech to measure with, found none (at most --seconds of every file are used)",
                "Name recordings of speech, or none: a clip comes with the program");
  }

  BenchTrial finished(const RunSummary& summary) {
    trial_.audio = summary.audio;
    trial_.elapsed = summary.elapsed - trial_.load;
    trial_.memory = memory_.resident();
    trial_.gpu_memory = memory_.on_gpu();
    for (const auto& text : texts_) trial_.text += text;
    return trial_;
  }

 private:
  BenchTrial trial_;
  PeakMemory memory_;
  std::vector<std::string> texts_;
  std::vector<bool> decoded_;
  std::size_t decodings_ = 0;
  std::optional<Error> recordings_fault_{};
};

RunOptions options_of(const BenchSetting& setting, RunOptions options) {
  options.device = setting.device;
  options.compute_type = setting.compute_type;
  options.batch_size = setting.batch_size;
  return options;
}

}  // namespace

std::vector<BenchSetting> bench_grid(const std::vector<std::string>& devices, const std::vector<std::string>& types,
                                     const std::vector<std::int32_t>& batch_sizes) {
  std::vector<BenchSetting> grid;
  for (const auto& device : devices)
    for (const auto& type : types)
      for (const auto batch_size : batch_sizes) grid.push_back({device, type, batch_size});
  std::stable_partition(grid.begin(), grid.end(),
                        [](const BenchSetting& setting) { return setting.compute_type == "float32"; });
  return grid;
}

RunOptions bench_options(Seconds most) {
  RunOptions options{.vad = VadOptions{.min_silence_duration_ms = kBatchedSilenceMs}, .batched = true};
  options.long_form.temperatures = {0};
  options.long_form.clip_timestamps = {0, most.count()};
  return options;
}

Result<BenchTrial> run_trial(const std::vector<std::filesystem::path>& files, const BenchSetting& setting,
                             const RunOptions& base, StopSignal& stop) {
  std::vector<PlannedFile> plan;
  for (const auto& file : files) plan.push_back({.input = file, .outputs = {}});
  TrialObserver observer(files.size(), setting.device);
  const auto summary = run_transcription(plan, options_of(setting, base), observer, stop);
  if (stop.raised()) return fail(Fault::cancelled, "stopped");
  if (summary)
    if (auto expected = observer.expect_speech(files); !expected) return tl::unexpected(expected.error());
  BenchTrial trial = summary ? observer.finished(*summary) : BenchTrial{.error = summary.error()};
  trial.setting = setting;
  return trial;
}

}  // namespace tutti
