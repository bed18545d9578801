#include <algorithm>
#include <chrono>
#include <cstdio>

#include "audio/mel/log_mel.h"
#include "audio/recording.h"
#include "audio/vad/packing.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "cli/command_start.h"
#include "cli/command_trace.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/flags/speech_flags.h"
#include "cli/interrupt.h"
#include "cli/standard_input.h"
#include "flow/pipeline.h"
#include "profile/machine_watch.h"
#include "profile/pipeline_tuner.h"
#include "profile/processor_watch.h"
#include "profile/recorded_run.h"
#include "profile/recording_file.h"
#include "profile/timeline.h"
#include "text/json_bytes.h"
#include "view/text.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::int64_t kFramesPerWindow = 3000;
constexpr std::int32_t kMostFeatureThreads = 256;
constexpr std::size_t kDecodedAhead = 2;  // decoded files on disk that may wait for their features
constexpr const char *kDecode = "decode", *kFeatures = "features", *kPrint = "print";  // stages

struct FeaturesCommand {
  std::vector<std::string> files{};
  std::int32_t mels = 80;
  bool json = false;
  std::int32_t decode_threads = 0;
  std::int32_t features_threads = 0;
  TuningFlags tuning{};
  VadFlags vad{};
  AudioFlags audio{};
  std::filesystem::path trace{};
};

/// What one file, or all together, came to.
struct Measured {
  Seconds audio{};
  Seconds decoding{};
  Seconds listening{};
  Seconds features{};
  std::int64_t frames = 0;
  std::size_t windows = 0;
  std::vector<std::string> losses{};
  std::vector<std::string> notes{};
  std::optional<std::vector<SpeechPiece>> speech{};  // none without VAD

  Seconds spent() const { return decoding + listening + features; }
  Seconds speech_length() const { return length_of(speech ? samples_of(*speech) : 0, kModelRate); }
};

template <class Fn>
auto timed(Seconds& spent, Fn&& fn) {
  const auto start = Clock::real().now();
  auto result = fn();
  spent += Clock::real().now() - start;
  return result;
}

/// Features of all of it, by windows that are clamped by the maximum of the whole.
Result<void> compute_features(const SampleReader& audio, const LogMel& log_mel, Measured& measured) {
  const auto maximum = timed(measured.features, [&] { return log_mel.maximum(audio); });
  if (!maximum) return tl::unexpected(maximum.error());
  const std::int64_t frames = LogMel::content_frames(audio);
  for (std::int64_t first = 0; first < frames; first += kFramesPerWindow) {
    const auto mel = timed(measured.features, [&] {
      return log_mel.window(audio, first, std::min(kFramesPerWindow, frames - first), *maximum);
    });
    if (!mel) return tl::unexpected(mel.error());
    ++measured.windows;
  }
  measured.frames += frames;
  return {};
}

/// What is measured, beside the files.
struct Wanted {
  std::optional<VadOptions> vad{};
  bool batched = false;
  AudioChoice audio{};
  fs::path standard_input{};  // where its recording is kept
};

/// As `tutti transcribe` would take the file's speech: each window by itself, or all speech in a row.
Result<void> compute_speech(const Recording& it, const Wanted& wanted, const LogMel& log_mel, Measured& measured) {
  const std::int64_t window = kFramesPerWindow * kHopSamples;
  VadOptions vad = *wanted.vad;
  if (wanted.batched)
    vad.max_speech_duration_s = std::min(vad.max_speech_duration_s, length_of(window, kModelRate).count());
  auto pieces = timed(measured.listening, [&] { return find_speech(it, vad); });
  if (!pieces) return tl::unexpected(pieces.error());
  measured.speech = *pieces;
  if (!wanted.batched) return compute_features(PackedRecording(it, std::move(*pieces)), log_mel, measured);
  for (PackedPieces& packed : pack_windows(*pieces, window)) {
    auto computed = compute_features(PackedRecording(it, std::move(packed)), log_mel, measured);
    if (!computed) return computed;
  }
  return {};
}

/// A file on its way. What failed keeps its turn, so that errors come where the file's line would.
struct FileInWork {
  std::string file{};
  Measured measured{};
  std::optional<Recording> audio{};  // until its features are there
  std::optional<Error> error{};
};

FileInWork decode(const std::string& file, const Wanted& wanted) {
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

FileInWork compute(FileInWork work, const Wanted& wanted, const LogMel& log_mel) {
  if (!work.audio) return work;
  const auto computed = wanted.vad ? compute_speech(*work.audio, wanted, log_mel, work.measured)
                                   : compute_features(*work.audio, log_mel, work.measured);
  work.audio.reset();
  if (!computed) work.error = computed.error();
  return work;
}

double seconds_at(std::int64_t sample) {
  return length_of(sample, kModelRate).count();
}

void print_text(const std::string& file, const Measured& it, int mels) {
  const std::string name = without_controls(file);
  const std::size_t columns = std::max<std::size_t>(40, columns_of(name));
  for (const auto* remarks : {&it.losses, &it.notes})
    for (const auto& remark : *remarks) std::printf("%s: %s\n", name.c_str(), remark.c_str());
  std::printf("%s %8s  %6lld frames of %d mels, %3zu windows   decoded %s×, features %s× real time\n",
              fitted(name, columns).c_str(), length_text(it.audio).c_str(), static_cast<long long>(it.frames), mels,
              it.windows, short_number(it.audio / it.decoding).c_str(), short_number(it.audio / it.features).c_str());
  if (!it.speech) return;
  for (const SpeechPiece& piece : *it.speech)
    std::printf("  speech %10.2f s to %10.2f s%s\n", seconds_at(piece.start), seconds_at(piece.end),
                piece.forced_cut ? "   cut: too long, and without a silence" : "");
  std::printf("  speech %s of %s, %.1f %%, in %zu %s   VAD %s× real time\n", length_text(it.speech_length()).c_str(),
              length_text(it.audio).c_str(), it.audio.count() > 0 ? 100 * it.speech_length() / it.audio : 0.0,
              it.speech->size(), it.speech->size() == 1 ? "piece" : "pieces",
              short_number(it.audio / it.listening).c_str());
}

void print_json(const std::string& file, const Measured& it) {
  Json line{
      {"file", file},
      {"seconds", it.audio.count()},
      {"frames", it.frames},
      {"windows", it.windows},
      {"losses", it.losses},
      {"spent",
       {{"decoding", it.decoding.count()}, {"listening", it.listening.count()}, {"features", it.features.count()}}}};
  if (!it.notes.empty()) line["notes"] = it.notes;
  if (it.speech) {
    line["speech_seconds"] = it.speech_length().count();
    line["speech"] = Json::array();
    for (const SpeechPiece& piece : *it.speech)
      line["speech"].push_back(
          {{"start", seconds_at(piece.start)}, {"end", seconds_at(piece.end)}, {"forced_cut", piece.forced_cut}});
  }
  std::puts(json_keeping_bytes(line).c_str());
}

void print_total(const Measured& total) {
  std::printf("%s of audio: decoding %s s, ", length_text(total.audio).c_str(),
              short_number(total.decoding.count()).c_str());
  if (total.listening.count() > 0) std::printf("listening %s s, ", short_number(total.listening.count()).c_str());
  std::printf("features %s s, together %s × real time on one core\n", short_number(total.features.count()).c_str(),
              short_number(total.audio / total.spent()).c_str());
}

/// What all files together came to, and each of them for a recording.
struct Outcome {
  Measured total{};
  std::size_t failed = 0;
  std::vector<Clock::Instant> ends{};  // of the files that did not fail
  std::vector<double> lengths{};       // likewise, of their audio
  RecordedStage decoding{.name = kDecode, .threads_flag = "--decode-threads"};
  RecordedStage features{.name = kFeatures, .threads_flag = "--features-threads"};
  RecordedStage printing{.name = kPrint, .resource = StageResource::io};

  void note(const Measured& it, Seconds printed) {
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

void finish(const FileInWork& work, const FeaturesCommand& command, Outcome& outcome) {
  if (work.error) {
    ++outcome.failed;
    complain(*work.error, kSomeFailed);
    return;
  }
  Seconds printed{};
  timed(printed, [&] {
    if (command.json)
      print_json(work.file, work.measured);
    else
      print_text(work.file, work.measured, command.mels);
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

/// Threads that the run set while it ran are those of its recording.
void note_tuning(const TuningResult& tuned, FeaturesCommand& command) {
  for (const auto& [stage, threads] : tuned.now)
    (stage == kDecode ? command.decode_threads : command.features_threads) = threads;
  if (!tuned.has_changed()) return;
  if (command.json)
    std::puts(json_line(Json{{"tuning", tuning_json(tuned)}}).c_str());
  else
    std::puts(tuning_sentence(tuned).c_str());
}

/// Records the run for `tutti profile`, or ends it with a sentence on what limited it.
Result<void> conclude_run(Outcome& outcome, const FeaturesCommand& command, const PipelineReport& report,
                          const RunTimeline& timeline, const WatchedParts& parts) {
  if (outcome.decoding.items.empty()) return {};
  RunRecording recording{.command = "features",
                         .cores = usable_cores(),
                         .elapsed = report.elapsed,
                         .lengths = std::move(outcome.lengths),
                         .timeline = timeline};
  outcome.decoding.threads = command.decode_threads;
  outcome.features.threads = command.features_threads;
  for (RecordedStage* stage : {&outcome.decoding, &outcome.features, &outcome.printing}) {
    for (const StageReport& clocks : report.stages)
      if (clocks.name == stage->name) note_clocks(*stage, clocks);
    recording.stages.push_back(std::move(*stage));
  }
  parts.processor.note(recording);
  recording = settled_part(std::move(recording), outcome.ends, parts.tuner.history());
  const auto sentence = conclude(recording, parts.machine);
  if (!sentence) return tl::unexpected(sentence.error());
  if (sentence->empty()) return {};
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", sentence->c_str());
  return {};
}

/// files -> decode -> features -> print, in the order of the command line.
void build_stages(Pipeline& pipeline, const FeaturesCommand& command, const Wanted& wanted, const LogMel& log_mel,
                  const StopSignal& stop, Outcome& outcome) {
  auto files =
      pipeline.source("files",
                      [&command, &stop, next = std::size_t{0}]() mutable -> std::optional<Result<std::string>> {
                        if (next == command.files.size() || stop.raised()) return std::nullopt;
                        return command.files[next++];
                      },
                      {.output = {.items = 1}});
  const auto options = [](int threads) {
    return StageOptions{.threads = threads, .order = Order::input, .output = {.items = kDecodedAhead}};
  };
  auto decoded = pipeline.map(
      kDecode, std::move(files), [&wanted](std::string&& file) -> Result<FileInWork> { return decode(file, wanted); },
      options(command.decode_threads));
  auto computed = pipeline.map(
      kFeatures, std::move(decoded),
      [&wanted, &log_mel](FileInWork&& work) -> Result<FileInWork> {
        return compute(std::move(work), wanted, log_mel);
      },
      options(command.features_threads));
  pipeline.sink(kPrint, std::move(computed), [&command, &outcome](FileInWork&& work) -> Result<void> {
    finish(work, command, outcome);
    return {};
  });
}

/// What the run is tuned by: stages whose threads were left open, and what their costs depend on.
TuningPlan plan_of(const FeaturesCommand& command, const Wanted& wanted) {
  std::string pipeline = "features, " + std::to_string(command.mels) + " mels";
  if (wanted.vad) pipeline += ", " + command.vad.method + (wanted.batched ? " batched" : "");
  return {.pipeline = std::move(pipeline),
          .stages = {{kDecode, StageResource::cpu, command.decode_threads == 0},
                     {kFeatures, StageResource::cpu, command.features_threads == 0},
                     {kPrint, StageResource::io}}};
}

/// The files as they were named; "-" as the names on standard input, or itself where a recording is there.
Result<std::vector<std::string>> named_files(const std::vector<std::string>& named, StandardInput& standard_input) {
  std::vector<std::string> files;
  for (const auto& name : named) {
    if (name != "-") {
      files.push_back(name);
      continue;
    }
    if (auto begun = standard_input.begin(); !begun) return tl::unexpected<Error>(begun.error());
    if (!standard_input.audio().empty()) {
      files.push_back(name);
      continue;
    }
    const auto names = standard_input.names();
    if (!names) return names;
    files.insert(files.end(), names->begin(), names->end());
  }
  return files;
}

int measure_all(FeaturesCommand command, const Wanted& wanted, TuningPlan plan) {
  Interrupt stop;  // before the first thread
  PipelineTuner tuner(std::move(plan));
  if (command.decode_threads == 0) command.decode_threads = tuner.threads_of(kDecode, 1);
  if (command.features_threads == 0) command.features_threads = tuner.threads_of(kFeatures, 1);
  const LogMel log_mel(command.mels);
  Outcome outcome;
  Pipeline pipeline;
  build_stages(pipeline, command, wanted, log_mel, stop, outcome);
  const ProcessorWatch processor;
  RunWatch watch;
  TimelineSampler sampler([&pipeline] { return pipeline.report(); });
  tuner.watch(pipeline);
  const auto ended = pipeline.run();
  const auto tuned = tuner.stop();
  const RunTimeline timeline = sampler.stop();
  if (!ended) return complain(ended.error());
  if (outcome.failed < command.files.size() && !command.json) print_total(outcome.total);
  if (tuned) note_tuning(*tuned, command);
  if (const auto concluded =
          conclude_run(outcome, command, pipeline.report(), timeline, {processor, watch.evidence(), tuner});
      !concluded)
    return complain(concluded.error());
  if (stop.raised()) return kInterrupted;
  return outcome.failed == 0 ? kDone : kSomeFailed;
}

}  // namespace

int run_features(const std::vector<std::string>& arguments) {
  FeaturesCommand command;
  OptionTable table(
      "features",
      "Decode audio, find its speech and compute Whisper's log-mel features: what the audio side of a transcription "
      "costs, and what --vad would hear.");
  table.positional(command.files, "FILE...",
                   "audio, or video with an audio track; -: their names, one a line or ended by NULs, on standard "
                   "input, or one recording there");
  table.add("mels", command.mels, "N", "mel bins: 80, or 128 as large-v3 takes them");
  table.add_switch("json", command.json, "a line of JSON for each file");
  table.add("decode-threads", command.decode_threads, "N",
            "files decoded at once; 0: one, or more where that is faster; lines stay in their order");
  table.add("features-threads", command.features_threads, "N",
            "files whose speech and features are computed at once; 0: likewise");
  add_tuning(table, command.tuning, "those that are 0");
  add_vad(table, command.vad);
  add_audio(table, command.audio);
  add_trace(table, command.trace);
  table.examples({"tutti features talk.mp3", "tutti features --vad --json talk.mp3"});
  if (const auto code = start_command(table, arguments)) return *code;
  if (command.mels < 1 || command.mels > 200)
    return complain({Fault::usage, "--mels: expected 1 to 200, found " + std::to_string(command.mels)}, kUsage);
  for (const auto& [flag, threads] : {std::pair{"--decode-threads", command.decode_threads},
                                      std::pair{"--features-threads", command.features_threads}})
    if (threads < 0 || threads > kMostFeatureThreads)
      return complain({Fault::usage, std::string(flag) + ": expected 0 to " + std::to_string(kMostFeatureThreads) +
                                         ", found " + std::to_string(threads)},
                      kUsage);
  const auto vad = vad_options(command.vad, {});
  if (!vad) return complain(vad.error(), kUsage);
  const auto audio = audio_choice(command.audio);
  if (!audio) return complain(audio.error(), kUsage);
  StandardInput standard_input;
  auto files = named_files(command.files, standard_input);
  if (!files) return complain(files.error());
  if (files->empty()) return complain({Fault::usage, joined(command.files, ", ") + ": names no recording"}, kUsage);
  command.files = *std::move(files);
  const Wanted wanted{
      .vad = *vad, .batched = command.vad.batched, .audio = *audio, .standard_input = standard_input.audio()};
  TuningPlan plan = plan_of(command, wanted);
  if (const auto set = set_tuning(command.tuning, plan); !set) return complain(set.error(), kUsage);
  CommandTrace trace;
  if (const auto begun = trace.begin_beside({command.files.begin(), command.files.end()}, command.trace,
                                            command_line("tutti features", arguments));
      !begun)
    return complain(begun.error());
  return measure_all(std::move(command), wanted, std::move(plan));
}

}  // namespace tutti
