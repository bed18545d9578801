#include "transcribe/features/features_run.h"

#include <algorithm>
#include <utility>

#include "audio/mel/log_mel.h"
#include "audio/recording.h"
#include "base/clock.h"
#include "base/try.h"
#include "flow/pipeline.h"
#include "profile/machine_watch.h"
#include "profile/pipeline_tuner.h"
#include "profile/processor_watch.h"
#include "profile/recorded_run.h"
#include "profile/recording_file.h"
#include "profile/timeline.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kFramesPerWindow = 3000;
constexpr std::size_t kDecodedAhead = 2;  // decoded files on disk that may wait for their features
constexpr const char *kDecode = "decode", *kFeatures = "features",
                     *kPrint = "print";  // stages; the last is the caller's

template <class Fn>
auto timed(Seconds& spent, Fn&& fn) {
  const auto start = Clock::real().now();
  auto result = fn();
  spent += Clock::real().now() - start;
  return result;
}

/// Features of all of it, by windows that are clamped by the maximum of the whole.
Result<void> compute_features(const SampleReader& audio, const LogMel& log_mel, MeasuredAudio& measured) {
  const auto maximum = TRY(timed(measured.features, [&] { return log_mel.maximum(audio); }));
  const std::int64_t frames = LogMel::content_frames(audio);
  for (std::int64_t first = 0; first < frames; first += kFramesPerWindow) {
    TRY(timed(measured.features,
              [&] { return log_mel.window(audio, first, std::min(kFramesPerWindow, frames - first), maximum); }));
    ++measured.windows;
  }
  measured.frames += frames;
  return {};
}

/// As `tutti transcribe` would take the file's speech: each window by itself, or all speech in a row.
Result<void> compute_speech(const Recording& it, const FeaturesRequest& wanted, const LogMel& log_mel,
                            MeasuredAudio& measured) {
  const std::int64_t window = kFramesPerWindow * kHopSamples;
  VadOptions vad = *wanted.vad;
  if (wanted.batched)
    vad.max_speech_duration_s = std::min(vad.max_speech_duration_s, length_of(window, kModelRate).count());
  auto pieces = TRY(timed(measured.listening, [&] { return find_speech(it, vad); }));
  measured.speech = pieces;
  if (!wanted.batched) return compute_features(PackedRecording(it, std::move(pieces)), log_mel, measured);
  for (PackedPieces& packed : pack_windows(pieces, window)) {
    auto computed = compute_features(PackedRecording(it, std::move(packed)), log_mel, measured);
    if (!computed) return computed;
  }
  return {};
}

/// A file on its way. What failed keeps its turn, so that errors come where the file's line would.
struct FileInWork {
  std::string file{};
  MeasuredAudio measured{};
  std::optional<Recording> audio{};  // until its features are there
  std::optional<Error> error{};
};

FileInWork decode(const std::string& file, const FeaturesRequest& wanted) {
  FileInWork work{.file = file};
  const fs::path path = file == "-" ? wanted.standard_input : fs::path(file);
  auto audio = timed(work.measured.decoding, [&] { return decode_recording(path, {}, {}, wanted.audio); });
  if (!audio) {
    work.error = audio.error();
    return work;
  }
  work.measured.audio = audio->duration();
  work.measured.losses = audio->losses();
  work.measured.notes = audio->notes();
  work.audio = std::move(*audio);
  return work;
}

FileInWork compute(FileInWork work, const FeaturesRequest& wanted, const LogMel& log_mel) {
  if (!work.audio) return work;
  const auto computed = wanted.vad ? compute_speech(*work.audio, wanted, log_mel, work.measured)
                                   : compute_features(*work.audio, log_mel, work.measured);
  work.audio.reset();
  if (!computed) work.error = computed.error();
  return work;
}

/// What all files together came to, and each of them for a recording.
struct Outcome {
  MeasuredAudio total{};
  std::size_t failed = 0;
  std::vector<Clock::Instant> ends{};  // of the files that did not fail
  std::vector<double> lengths{};       // likewise, of their audio
  RecordedStage decoding{.name = kDecode, .threads_flag = "--decode-threads"};
  RecordedStage features{.name = kFeatures, .threads_flag = "--features-threads"};
  RecordedStage printing{.name = kPrint, .resource = StageResource::io};

  void note(const MeasuredAudio& it, Seconds printed) {
    total.audio += it.audio;
    total.decoding += it.decoding;
    total.listening += it.listening;
    total.features += it.features;
    decoding.items.push_back(it.decoding);
    features.items.push_back(it.listening + it.features);
    printing.items.push_back(printed);
    ends.push_back(Clock::real().now());
    lengths.push_back(it.audio.count());
  }
};

void finish(const FileInWork& work, const FeaturesEvents& events, Outcome& outcome) {
  if (work.error) {
    ++outcome.failed;
    events.on_failed(*work.error);
    return;
  }
  Seconds printed{};
  timed(printed, [&] {
    events.on_file(work.file, work.measured);
    return true;
  });
  outcome.note(work.measured, printed);
}

/// What is measured beside the files.
struct WatchedParts {
  const ProcessorWatch& processor;
  const MachineEvidence machine;
  const PipelineTuner& tuner;
};

/// Records the run for `tutti profile`, or ends it with a sentence on what limited it.
Result<std::string> conclude_run(Outcome& outcome, const FeaturesRequest& request, const PipelineReport& report,
                                 const RunTimeline& timeline, const WatchedParts& parts) {
  if (outcome.decoding.items.empty()) return std::string();
  RunRecording recording{.command = "features",
                         .cores = usable_cores(),
                         .elapsed = report.elapsed,
                         .lengths = std::move(outcome.lengths),
                         .timeline = timeline};
  outcome.decoding.threads = request.decode_threads;
  outcome.features.threads = request.features_threads;
  for (RecordedStage* stage : {&outcome.decoding, &outcome.features, &outcome.printing}) {
    for (const StageReport& clocks : report.stages)
      if (clocks.name == stage->name) note_clocks(*stage, clocks);
    recording.stages.push_back(std::move(*stage));
  }
  parts.processor.note(recording);
  recording = settled_part(std::move(recording), outcome.ends, parts.tuner.history());
  return conclude(recording, parts.machine);
}

/// files -> decode -> features -> print, in the order of the command line.
void build_stages(Pipeline& pipeline, const FeaturesRequest& request, const LogMel& log_mel, const StopSignal& stop,
                  const FeaturesEvents& events, Outcome& outcome) {
  auto files =
      pipeline.source("files",
                      [&request, &stop, next = std::size_t{0}]() mutable -> std::optional<Result<std::string>> {
                        if (next == request.files.size() || stop.raised()) return std::nullopt;
                        return request.files[next++];
                      },
                      {.output = {.items = 1}});
  const auto options = [](int threads) {
    return StageOptions{.threads = threads, .order = Order::input, .output = {.items = kDecodedAhead}};
  };
  auto decoded = pipeline.map(
      kDecode, std::move(files), [&request](std::string&& file) -> Result<FileInWork> { return decode(file, request); },
      options(request.decode_threads));
  auto computed = pipeline.map(
      kFeatures, std::move(decoded),
      [&request, &log_mel](FileInWork&& work) -> Result<FileInWork> {
        return compute(std::move(work), request, log_mel);
      },
      options(request.features_threads));
  pipeline.sink(kPrint, std::move(computed), [&events, &outcome](FileInWork&& work) -> Result<void> {
    finish(work, events, outcome);
    return {};
  });
}

}  // namespace

TuningPlan features_plan(const FeaturesRequest& request, const std::string& vad_method) {
  std::string pipeline = "features, " + std::to_string(request.mels) + " mels";
  if (request.vad) pipeline += ", " + vad_method + (request.batched ? " batched" : "");
  return {.pipeline = std::move(pipeline),
          .stages = {{kDecode, StageResource::cpu, request.decode_threads == 0},
                     {kFeatures, StageResource::cpu, request.features_threads == 0},
                     {kPrint, StageResource::io}}};
}

Result<FeaturesEnd> measure_features(FeaturesRequest request, TuningPlan plan, const StopSignal& stop,
                                     const FeaturesEvents& events) {
  PipelineTuner tuner(std::move(plan));
  if (request.decode_threads == 0) request.decode_threads = tuner.threads_of(kDecode, 1);
  if (request.features_threads == 0) request.features_threads = tuner.threads_of(kFeatures, 1);
  const LogMel log_mel(request.mels);
  Outcome outcome;
  Pipeline pipeline;
  build_stages(pipeline, request, log_mel, stop, events, outcome);
  const ProcessorWatch processor;
  RunWatch watch;
  TimelineSampler sampler([&pipeline] { return pipeline.report(); });
  tuner.watch(pipeline);
  const auto ended = pipeline.run();
  FeaturesEnd end{.tuning = tuner.stop()};
  const RunTimeline timeline = sampler.stop();
  TRY(ended);
  if (end.tuning)  // threads that the run set while it ran are those of its recording
    for (const auto& [stage, threads] : end.tuning->now)
      (stage == kDecode ? request.decode_threads : request.features_threads) = threads;
  end.finding = conclude_run(outcome, request, pipeline.report(), timeline, {processor, watch.evidence(), tuner});
  end.total = std::move(outcome.total);
  end.failed = outcome.failed;
  return end;
}

}  // namespace tutti
