#include <algorithm>
#include <cstdio>

#include "audio/recording.h"
#include "base/json.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/command_trace.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/flags/speech_flags.h"
#include "cli/interrupt.h"
#include "profile/pipeline_tuner.h"
#include "text/json_bytes.h"
#include "transcribe/features/features_run.h"
#include "transcribe/inputs/standard_input.h"
#include "view/text.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::int32_t kMostFeatureThreads = 256;

struct FeaturesCommand {
  FeaturesRequest measured{};
  bool json = false;
  TuningFlags tuning{};
  VadFlags vad{};
  AudioFlags audio{};
  std::filesystem::path trace{};
};

double seconds_at(std::int64_t sample) {
  return length_of(sample, kModelRate).count();
}

void print_text(const std::string& file, const MeasuredAudio& it, int mels) {
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

void print_json(const std::string& file, const MeasuredAudio& it) {
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

void print_total(const MeasuredAudio& total) {
  std::printf("%s of audio: decoding %s s, ", length_text(total.audio).c_str(),
              short_number(total.decoding.count()).c_str());
  if (total.listening.count() > 0) std::printf("listening %s s, ", short_number(total.listening.count()).c_str());
  std::printf("features %s s, together %s × real time on one core\n", short_number(total.features.count()).c_str(),
              short_number(total.audio / total.spent()).c_str());
}

void print_tuning(const TuningResult& tuned, bool json) {
  if (!tuned.has_changed()) return;
  std::puts(json ? json_line(Json{{"tuning", tuning_json(tuned)}}).c_str() : tuning_sentence(tuned).c_str());
}

/// The files as they were named; "-" as the names on standard input, or itself where a recording is there.
Result<std::vector<std::string>> named_files(const std::vector<std::string>& named, StandardInput& standard_input) {
  std::vector<std::string> files;
  for (const auto& name : named) {
    if (name != "-") {
      files.push_back(name);
      continue;
    }
    TRY(standard_input.begin());
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

int measure_all(const FeaturesCommand& command, TuningPlan plan) {
  const Interrupt stop;  // before the first thread
  const FeaturesEvents events{.on_file =
                                  [&](const std::string& file, const MeasuredAudio& it) {
                                    command.json ? print_json(file, it) : print_text(file, it, command.measured.mels);
                                  },
                              .on_failed = [](const Error& error) { complain(error, kSomeFailed); }};
  const auto end = measure_features(command.measured, std::move(plan), stop, events);
  if (!end) return complain(end.error());
  if (end->failed < command.measured.files.size() && !command.json) print_total(end->total);
  if (end->tuning) print_tuning(*end->tuning, command.json);
  if (!end->finding) return complain(end->finding.error());
  if (!end->finding->empty()) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", end->finding->c_str());
  }
  if (stop.raised()) return kInterrupted;
  return end->failed == 0 ? kDone : kSomeFailed;
}

}  // namespace

int run_features(const std::vector<std::string>& arguments) {
  FeaturesCommand command;
  OptionTable table(
      "features",
      "Decode audio, find its speech and compute Whisper's log-mel features: what the audio side of a transcription "
      "costs, and what --vad would hear.");
  table.positional(command.measured.files, "FILE...",
                   "audio, or video with an audio track; -: their names, one a line or ended by NULs, on standard "
                   "input, or one recording there");
  table.add("mels", command.measured.mels, "N", "mel bins: 80, or 128 as large-v3 takes them");
  table.add_switch("json", command.json, "a line of JSON for each file");
  table.add("decode-threads", command.measured.decode_threads, "N",
            "files decoded at once; 0: one, or more where that is faster; lines stay in their order");
  table.add("features-threads", command.measured.features_threads, "N",
            "files whose speech and features are computed at once; 0: likewise");
  add_tuning(table, command.tuning, "those that are 0");
  add_vad(table, command.vad);
  add_audio(table, command.audio);
  add_trace(table, command.trace);
  table.examples({"tutti features talk.mp3", "tutti features --vad --json talk.mp3"});
  if (const auto code = start_command(table, arguments)) return *code;
  if (command.measured.mels < 1 || command.measured.mels > 200)
    return complain({Fault::usage, "--mels: expected 1 to 200, found " + std::to_string(command.measured.mels)},
                    kUsage);
  for (const auto& [flag, threads] : {std::pair{"--decode-threads", command.measured.decode_threads},
                                      std::pair{"--features-threads", command.measured.features_threads}})
    if (threads < 0 || threads > kMostFeatureThreads)
      return complain({Fault::usage, std::string(flag) + ": expected 0 to " + std::to_string(kMostFeatureThreads) +
                                         ", found " + std::to_string(threads)},
                      kUsage);
  const auto vad = vad_options(command.vad, {});
  if (!vad) return complain(vad.error(), kUsage);
  const auto audio = audio_choice(command.audio);
  if (!audio) return complain(audio.error(), kUsage);
  StandardInput standard_input;
  auto files = named_files(command.measured.files, standard_input);
  if (!files) return complain(files.error());
  if (files->empty())
    return complain({Fault::usage, joined(command.measured.files, ", ") + ": names no recording"}, kUsage);
  command.measured.files = *std::move(files);
  FeaturesRequest& wanted = command.measured;
  wanted.vad = *vad;
  wanted.batched = command.vad.batched;
  wanted.audio = *audio;
  wanted.standard_input = standard_input.audio();
  TuningPlan plan = features_plan(wanted, command.vad.method == "auto" ? "silero" : command.vad.method);
  if (const auto set = set_tuning(command.tuning, plan); !set) return complain(set.error(), kUsage);
  CommandTrace trace;
  if (const auto begun = trace.begin_beside({command.measured.files.begin(), command.measured.files.end()},
                                            command.trace, command_line("tutti features", arguments));
      !begun)
    return complain(begun.error());
  return measure_all(command, std::move(plan));
}

}  // namespace tutti
