#include "transcribe/bench.h"

#include <algorithm>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include "base/field_names.h"
#include "base/files.h"
#include "base/new_file.h"
#include "base/try.h"
#include "device/child_memory.h"
#include "device/device_spec.h"
#include "device/machine_devices.h"
#include "link/query_engine.h"
#include "text/error_rate.h"
#include "text/normaliser.h"
#include "transcribe/speech_chunks.h"
#include "transcribe/stop_signal.h"

namespace tutti {
namespace {

constexpr Seconds kPeriod{0.25};  // a trial on a fast GPU is over in a second or two
constexpr Seconds kFirstLook{3};

std::string uuid_of(const std::string& device) {
  const auto spec = parse_device(device);
  const auto found = spec ? resolve(*spec, find_devices()) : tl::unexpected<Error>(spec.error());
  return found ? found->uuid : "";
}

}  // namespace

std::optional<Bytes> held_by_us(const GpuMemory& memory, std::optional<Bytes> before) {
  if (memory.own) return memory.own;
  if (!memory.used || !before) return {};
  return Bytes{std::max<std::int64_t>(0, memory.used->value - before->value)};
}

PeakMemory::PeakMemory(const std::string& device) : uuid_(uuid_of(device)) {
  if (uuid_.empty()) return;
  sampler_ = std::make_unique<Sampler>(SamplerOptions{.period = kPeriod, .pcie_period = Seconds(0)});
  sampler_->settled(kFirstLook);
  if (const auto memory = gpu_memory()) before_ = memory->used;
}

std::optional<GpuMemory> PeakMemory::gpu_memory() const {
  if (!sampler_) return {};
  const auto machine = sampler_->latest();
  const GpuSnapshot* gpu = machine->gpu(uuid_);
  // For a slice (MIG-…) the driver reports what the whole GPU holds.
  if (!gpu || gpu->uuid != uuid_) return {};
  GpuMemory memory = gpu->memory;
  // Our worker is there: a driver that shows no process hides it, too, however little is in use.
  if (gpu->processes && gpu->processes->empty()) memory.own.reset();
  return memory;
}

void PeakMemory::look() {
  if (const auto resident = largest_child()) resident_ = std::max(resident_.value_or(Bytes{}), *resident);
  const auto memory = gpu_memory();
  const auto held = memory ? held_by_us(*memory, before_) : std::nullopt;
  if (held) on_gpu_ = std::max(on_gpu_.value_or(Bytes{}), *held);
}

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
                    ": expected speech to measure with, found none (at most " + field("seconds") +
                    " of every file are used)",
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

TranscribeOptions options_of(const BenchSetting& setting, TranscribeOptions options) {
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

TranscribeOptions bench_options(Seconds most) {
  TranscribeOptions options;
  options.vad = VadOptions{.min_silence_duration_ms = kBatchedSilenceMs};
  options.batched = true;
  options.long_form.temperatures = {0};
  options.long_form.clip_timestamps = {0, most.count()};
  return options;
}

Result<BenchTrial> run_trial(const std::vector<std::filesystem::path>& files, const BenchSetting& setting,
                             const TranscribeOptions& base, StopSignal& stop) {
  std::vector<PlannedFile> plan;
  for (const auto& file : files) plan.push_back({.input = file, .outputs = {}});
  TrialObserver observer(files.size(), setting.device);
  const auto summary = run_transcription(plan, options_of(setting, base), observer, stop);
  if (stop.raised()) return fail(Fault::cancelled, "stopped");
  if (summary) TRY(observer.expect_speech(files));
  BenchTrial trial = summary ? observer.finished(*summary) : BenchTrial{.error = summary.error()};
  trial.setting = setting;
  return trial;
}

namespace {

constexpr Seconds kMeasuredWithin{60};

}  // namespace

Result<DeviceLimits> parse_limits(std::string_view text) {
  DeviceLimits limits;
  const std::map<std::string, double*> fields{{"flops", &limits.flops},
                                              {"bandwidth", &limits.bandwidth},
                                              {"window_flops", &limits.window_flops},
                                              {"step_bytes", &limits.step_bytes},
                                              {"sequence_bytes", &limits.sequence_bytes}};
  std::istringstream lines{std::string(text)};
  std::string name;
  for (double value = 0; lines >> name >> value;)
    if (const auto field = fields.find(name); field != fields.end()) *field->second = value;
  for (const auto& [key, value] : fields)
    if (!(*value > 0)) return fail(Fault::corrupt, "the engine's limits: '" + key + "' is missing or not positive");
  return limits;
}

Result<DeviceLimits> query_limits(const std::filesystem::path& model, const std::string& device,
                                  const std::string& compute_type) {
  const auto spec = TRY(parse_device(device));
  const auto found = TRY(resolve(spec, find_devices()));
  const bool gpu = found.kind == ResolvedDevice::Kind::cuda;
  const auto output = TRY(query_engine({"limits", "--model", model.string(), "--device", gpu ? "cuda:0" : "cpu",
                                        "--compute-type", compute_type, "--threads", found.core ? "1" : "0"},
                                       {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}, {"CUDA_VISIBLE_DEVICES", found.uuid}},
                                       {.within = kMeasuredWithin}));
  return parse_limits(output);
}

Seconds least_time(const DeviceLimits& limits, const BenchTrial& trial) {
  const auto windows = static_cast<double>(trial.windows);
  const double together = std::clamp(windows, 1.0, static_cast<double>(std::max(1, trial.setting.batch_size)));
  const double bytes = limits.step_bytes / together + limits.sequence_bytes;
  return Seconds(windows * limits.window_flops / limits.flops +
                 static_cast<double>(trial.decoder_steps) * bytes / limits.bandwidth);
}

namespace {

/// Not behind the English normaliser: it makes one number of spoken digits in a row, and a row that differs in one of
/// them would differ wholly.
double word_errors(const std::string& reference, const std::string& text) {
  return error_rates(std::vector{normalise_basic(reference)}, std::vector{normalise_basic(text)}).value().wer();
}

bool better(const ScoredTrial& one, const ScoredTrial& other) {
  return one.trial.speed() > other.trial.speed();
}

}  // namespace

BenchResult score_trials(const std::vector<BenchTrial>& trials,
                         const std::vector<std::optional<DeviceLimits>>& limits) {
  BenchResult result;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    ScoredTrial scored{.trial = trials[i]};
    if (!scored.trial.error) {
      if (!result.reference) result.reference = i;
      scored.word_errors = word_errors(trials[*result.reference].text, scored.trial.text);
      if (limits[i] && scored.trial.elapsed.count() > 0)
        scored.share_of_limit = least_time(*limits[i], scored.trial) / scored.trial.elapsed;
    }
    result.trials.push_back(std::move(scored));
    const bool agrees = result.trials[i].word_errors.value_or(1) <= kAgrees;
    if (agrees && (!result.recommended || better(result.trials[i], result.trials[*result.recommended])))
      result.recommended = i;
  }
  return result;
}

std::string flags_of(const BenchSetting& setting) {
  return field("batched") + " " + field("device") + " " + setting.device + " " + field("compute_type") + " " +
         setting.compute_type + " " + field("batch_size") + " " + std::to_string(setting.batch_size) + " " +
         field("beam_size") + " None " + field("temperature_increment_on_fallback") + " None";
}

extern const std::string_view kBenchClip;  // data/bench_clip.ogg

Result<BundledClip> bundled_clip() {
  auto file = TRY(open_unnamed_file());
  TRY(write_all(file.get(), std::as_bytes(std::span(kBenchClip)), "the bundled clip"));
  auto path = path_of_descriptor(file.get());
  return BundledClip{std::move(file), std::move(path)};
}

}  // namespace tutti
