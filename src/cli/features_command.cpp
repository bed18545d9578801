#include <algorithm>
#include <chrono>
#include <cstdio>

#include "audio/log_mel.h"
#include "audio/recording.h"
#include "audio/vad/packing.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "text/json_bytes.h"
#include "view/text.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kFramesPerWindow = 3000;

struct FeaturesCommand {
  std::vector<std::string> files{};
  std::int32_t mels = 80;
  bool json = false;
  VadFlags vad{};
  AudioFlags audio{};
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
Result<void> compute_features(const SampleReader& sound, const LogMel& log_mel, Measured& measured) {
  const auto maximum = timed(measured.features, [&] { return log_mel.maximum(sound); });
  if (!maximum) return tl::unexpected(maximum.error());
  const std::int64_t frames = LogMel::content_frames(sound);
  for (std::int64_t first = 0; first < frames; first += kFramesPerWindow) {
    const auto mel = timed(measured.features, [&] {
      return log_mel.window(sound, first, std::min(kFramesPerWindow, frames - first), *maximum);
    });
    if (!mel) return tl::unexpected(mel.error());
    ++measured.windows;
  }
  measured.frames += frames;
  return {};
}

/// As `tutti transcribe` would take the file's speech: each window by itself, or all speech in a row.
Result<void> compute_speech(const Recording& recording, VadOptions vad, bool batched, const LogMel& log_mel,
                            Measured& measured) {
  const std::int64_t window = kFramesPerWindow * kHopSamples;
  if (batched) vad.max_speech_duration_s = std::min(vad.max_speech_duration_s, length_of(window, kModelRate).count());
  auto pieces = timed(measured.listening, [&] { return find_speech(recording, vad); });
  if (!pieces) return tl::unexpected(pieces.error());
  measured.speech = *pieces;
  if (!batched) return compute_features(PackedRecording(recording, std::move(*pieces)), log_mel, measured);
  for (PackedPieces& packed : pack_windows(*pieces, window)) {
    auto computed = compute_features(PackedRecording(recording, std::move(packed)), log_mel, measured);
    if (!computed) return computed;
  }
  return {};
}

/// What is measured, beside the files.
struct Wanted {
  std::optional<VadOptions> vad{};
  bool batched = false;
  AudioChoice audio{};
};

Result<Measured> measure(const std::string& file, const Wanted& wanted, const LogMel& log_mel) {
  Measured measured;
  const auto recording = timed(measured.decoding, [&] { return decode_recording(file, {}, {}, wanted.audio); });
  if (!recording) return tl::unexpected(recording.error());
  measured.audio = recording->duration();
  measured.losses = recording->losses();
  measured.notes = recording->notes();
  const auto computed = wanted.vad ? compute_speech(*recording, *wanted.vad, wanted.batched, log_mel, measured)
                                   : compute_features(*recording, log_mel, measured);
  return computed.map([&] { return measured; });
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

int measure_all(const FeaturesCommand& command, const Wanted& wanted) {
  const LogMel log_mel(command.mels);
  std::size_t failed = 0;
  Measured total;
  for (const auto& file : command.files) {
    const auto measured = measure(file, wanted, log_mel);
    if (!measured) {
      ++failed;
      complain(measured.error(), kSomeFailed);
      continue;
    }
    if (command.json)
      print_json(file, *measured);
    else
      print_text(file, *measured, command.mels);
    total.audio += measured->audio;
    total.decoding += measured->decoding;
    total.listening += measured->listening;
    total.features += measured->features;
  }
  if (failed < command.files.size() && !command.json) print_total(total);
  return failed == 0 ? kDone : kSomeFailed;
}

}  // namespace

int run_features(const std::vector<std::string>& arguments) {
  FeaturesCommand command;
  OptionTable table(
      "features",
      "Decode audio, find its speech and compute Whisper's log-mel features: what the audio side of a transcription "
      "costs, and what --vad would hear.");
  table.positional(command.files, "FILE...", "audio, or video with an audio track; - reads standard input");
  table.add("mels", command.mels, "N", "mel bins: 80, or 128 as large-v3 takes them");
  table.add_switch("json", command.json, "a line of JSON for each file");
  add_vad(table, command.vad);
  add_audio(table, command.audio);
  table.examples({"tutti features talk.mp3", "tutti features --vad --json talk.mp3"});
  if (const auto code = start_command(table, arguments)) return *code;
  if (command.mels < 1 || command.mels > 200)
    return complain({Fault::usage, "--mels: expected 1 to 200, found " + std::to_string(command.mels)}, kUsage);
  const auto vad = vad_options(command.vad, {});
  if (!vad) return complain(vad.error(), kUsage);
  const auto audio = audio_choice(command.audio);
  if (!audio) return complain(audio.error(), kUsage);
  return measure_all(command, {.vad = *vad, .batched = command.vad.batched, .audio = *audio});
}

}  // namespace tutti
