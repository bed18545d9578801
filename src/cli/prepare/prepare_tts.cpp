#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "base/output_ownership.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/command_trace.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/named_model.h"
#include "cli/prepare/build_progress.h"
#include "device/machine.h"
#include "feed/prepared_set.h"
#include "feed/voice/voice_builder.h"
#include "feed/voice/voice_file.h"
#include "feed/voice/voice_waveforms.h"
#include "prepare/clip_transcripts.h"
#include "profile/pipeline_recorder.h"
#include "view/text.h"

namespace tutti {
namespace {

struct PrepareTts {
  VoiceBuildOptions build{};
  std::string symbols = "auto";
  std::string language = "en";
  std::string digits = "2:8";
  std::int32_t strings = 2000;
  std::int32_t rate = 0;
  std::int32_t n_fft = 0;
  std::int32_t window = 0;
  std::int32_t hop = 0;
  std::int32_t mels = 80;
  std::int32_t max_text = 200;
  double max_seconds = 20;
  double most_characters = 22;
  double edge = 0.1;
  std::string level = "auto";
  std::string check_model{};
  std::int32_t threads = 0;
  TuningFlags tuning{};
  std::filesystem::path trace{};
};

OptionTable table_of(PrepareTts& c) {
  auto& build = c.build;
  OptionTable table("prepare tts",
                    "Make the set of a voice for 'tutti train tts' of recordings and their texts: spectrograms, pitch, "
                    "energy and symbols, packed once. Clips that do not fit their text, are clipped, cannot be read or "
                    "have no text are never trained on; OUT/bad_samples.jsonl lists which and why.");
  table.add("data", build.data, "DIR",
            "LJSpeech's layout (metadata.csv, or metadata_train.csv and metadata_eval.csv, with wavs/; also "
            "id|speaker|text), "
            "VCTK's (txt/ and wav48/), single digits as DIGIT_SPEAKER_TAKE.wav, or any list of recordings with texts "
            "that 'tutti train whisper' takes; a column speaker, speaker_id or client_id names who speaks");
  table.add("out", build.out, "SET", "the folder of the set: voice.set, bad_samples.jsonl");
  table.add("speaker", build.speaker, "NAME", "only recordings of this one; without it: all, each a voice of its own");
  table.add("language", c.language, "LANGUAGE", "language of the texts: a code, a tag or a name");
  table
      .add("symbols", c.symbols, "KIND",
           "what texts become; auto: phonemes for English, characters for other languages")
      .choices = {"auto", "phonemes", "characters"};
  table.add("rate", c.rate, "HZ", "sample rate of the voice; 0: that of most recordings, but 16000 to 22050");
  table.add("fft", c.n_fft, "N", "samples of the Fourier transform; 0: 1024");
  table.add("window", c.window, "N", "samples of the window; 0: 1024, below 22050 Hz 800");
  table.add("hop", c.hop, "N", "samples from frame to frame; 0: 256, below 22050 Hz 200");
  table.add("mels", c.mels, "N", "bins of a spectrogram, from 0 to half the rate");
  table.add("trim-db", build.audio.trim_decibels, "DB",
            "sound at both ends of a clip that is softer than its loudest part by more is cut off");
  table.add("edge", c.edge, "SECONDS", "length of silence that stays at both ends");
  table.add("level", c.level, "RMS",
            "loudness that clips are brought to, 0 to 1; 0: none, they stay as loud as they are; auto: 0.08 for "
            "digits, else 0");
  table.add("noise-floor", build.audio.noise, "RMS", "level of white noise over every clip, so that no pause is empty");
  table.add("max-text-length", c.max_text, "N", "symbols; clips with longer texts are left out");
  table.add("max-seconds", c.max_seconds, "S", "longer recordings are left out");
  table.add("most-characters", c.most_characters, "N",
            "a second: recordings with more text than that hold only a part of it, and are left out");
  table.add(
      "check-model", c.check_model, "DIR|NAME",
      "a Whisper model that transcribes every clip; clips whose audio has other words than their text, or not all "
      "of them, are left out");
  table.add("most-missing-words", build.most_missing_words, "SHARE",
            "of a text's words that --check-model may find missing, 0 to 1; one word always may");
  table.add("most-other-words", build.most_other_words, "SHARE",
            "of a text's words that --check-model may find to be others or missing, 0 to 1");
  table.add("exclude", build.exclude, "FILE",
            "texts, one a line, that no clip may have: what the voice is tested with");
  table.add("validation-share", build.validation_share, "SHARE",
            "share of the texts that is kept for validation and not trained on; no text is in both parts");
  table.add("strings", c.strings, "N",
            "strings of single digits: so many are made for each speaker, as far as there are different ones");
  table.add("digits", c.digits, "LEAST:MOST", "least and most digits of such a string");
  table.add_switch(
      "waveforms", build.waveforms,
      "also keep the clips' audio, as OUT/waveforms.set: 'tutti train tts --data-gpu' computes spectrograms "
      "of it and can change it before");
  table.add("label", build.label, "TEXT", "where the voice comes from, for the model's card; empty: the data's folder");
  table.add("seed", build.seed, "N", "seed of the split, the strings and the noise");
  table.add("threads", c.threads, "N", "0: one per core, or as many as are faster; changes nothing of the set");
  add_tuning(table, c.tuning, "--threads where it is 0");
  table.add_switch("dry-run", build.dry_run, "read everything, report what the set would hold, and write nothing");
  table.examples({"tutti prepare tts --data LJSpeech-1.1 --out voice",
                  "tutti prepare tts --data digits --speaker jackson --out voice"});
  return table;
}

/// "2:8".
Result<void> read_digits(const std::string& text, DigitStringOptions& strings) {
  const auto parts = split(text, ':');
  const auto least = parts.empty() ? std::nullopt : number_in<int>(parts.front());
  const auto most = parts.size() == 2 ? number_in<int>(parts[1]) : std::nullopt;
  constexpr int kMost = 30;
  if (!least || !most || *least < 1 || *least > *most || *most > kMost)
    return fail(Fault::usage, "--digits: expected two numbers from 1 to 30, LEAST:MOST, found '" + text + "'");
  strings.least = *least;
  strings.most = *most;
  return {};
}

Result<void> read_level(const PrepareTts& c, VoiceBuildOptions& build) {
  if (c.level == "auto") return {};
  const auto level = number_in<double>(c.level);
  if (!level || *level < 0 || *level > 1)
    return fail(Fault::usage, "--level: expected 'auto' or a number from 0 to 1, found '" + c.level + "'");
  build.level = *level;
  return {};
}

Result<void> check_ranges(const PrepareTts& c) {
  const auto& build = c.build;
  constexpr int kMostStrings = 10'000'000;
  const FlagRange ranges[] = {{"--strings", double(c.strings), 1, kMostStrings},
                              {"--max-text-length", double(c.max_text), 2, 10'000},
                              {"--max-seconds", c.max_seconds, 0.1, 600},
                              {"--most-characters", c.most_characters, 1, 1000},
                              {"--edge", c.edge, 0, 10},
                              {"--trim-db", build.audio.trim_decibels, 1, 200},
                              {"--noise-floor", build.audio.noise, 0, 0.1},
                              {"--most-missing-words", build.most_missing_words, 0, 1},
                              {"--most-other-words", build.most_other_words, 0, 1},
                              {"--validation-share", build.validation_share, 0, 0.5}};
  if (auto within = expect_ranges(ranges); !within) return within;
  return check_thread_count("--threads", c.threads);
}

/// Checks the flags, and fills the options in from them.
Result<void> settle(PrepareTts& c) {
  auto& build = c.build;
  if (build.data.empty() || build.out.empty())
    return fail(Fault::usage, "prepare tts needs recordings and a folder for the set",
                "Name them with --data and --out");
  if (auto valid = check_ranges(c); !valid) return valid;
  if (auto level = read_level(c, build); !level) return level;
  if (auto digits = read_digits(c.digits, build.strings); !digits) return digits;
  build.language = TRY(language_code_of(c.language));
  if (c.symbols != "auto") build.kind = c.symbols == "characters" ? SymbolKind::characters : SymbolKind::phonemes;
  if (c.rate != 0) build.rate = Hertz{c.rate};
  if (c.n_fft != 0) build.n_fft = c.n_fft;
  if (c.window != 0) build.window = c.window;
  if (c.hop != 0) build.hop = c.hop;
  build.n_mels = c.mels;
  build.strings.count = c.strings;
  build.limits.most_symbols = c.max_text;
  build.limits.longest = Seconds(c.max_seconds);
  build.limits.most_characters = c.most_characters;
  build.audio.edge = Seconds(c.edge);
  build.threads = c.threads > 0 ? c.threads : std::max(1, read_cpu().cores);
  return expect_other_out(build.out, build.data);
}

/// Checks that no file of the set, nor the trace, replaces what it is made of, or what another program wrote.
Result<OutputOwnership> claim_set(const VoiceBuildOptions& build, const std::filesystem::path& trace) {
  OutputOwnership files("Name another folder with --out");
  files.add_input(build.data);
  struct Output {
    const char* name;
    std::string_view mark;
  };
  for (const auto& [name, mark] : {Output{kVoiceSetFile, kVoiceMark}, Output{kVoiceWaveformFile, kVoiceWaveformMark},
                                   Output{kBadSampleList, "{\"id\":"}})
    TRY(files.claim_marked(build.out / name, "the set", std::string(mark)));
  TRY(claim_trace(files, trace));
  return files;
}

/// Has the set's clips transcribed by --check-model.
Result<void> check_by_model(PrepareTts& c, Interrupt& interrupt) {
  if (c.check_model.empty()) return {};
  const auto model = TRY(find_named_model(c.check_model));
  c.build.transcribe = [recogniser = ClipRecogniser{model, c.build.language, c.threads},
                        &interrupt](std::span<const VoiceSource* const> clips) {
    BuildProgress progress(interrupt, "clips transcribed");
    return transcribe_clips(recogniser, clips, interrupt,
                            [&](std::int64_t done, std::int64_t all) { progress(done, all); });
  };
  return {};
}

void print_report(const VoiceBuildOptions& build, const VoiceBuildReport& report) {
  const auto count = [](std::int64_t value) { return static_cast<long long>(value); };
  std::printf("%lld clips to train on and %lld for validation, %s of speech%s, %s\n", count(report.training),
              count(report.validation), length_text(report.audio).c_str(),
              report.are_digits ? (" as strings of " + std::to_string(report.found) + " single digits").c_str()
                                : (" of " + std::to_string(report.found) + " recordings").c_str(),
              build.dry_run ? "nothing was written" : ("in " + build.out.string()).c_str());
  std::printf("%d Hz, %d mels in frames of %d samples (window %d, Fourier transform %d); %s, texts of at most %lld%s\n",
              report.mel.rate.value, report.mel.n_mels, report.mel.hop, report.mel.window, report.mel.n_fft,
              report.kind.c_str(), count(report.longest_text),
              build.dry_run ? ""
                            : ("; " + bytes_text(report.size) +
                               (build.waveforms ? " and " + bytes_text(report.waveforms) + " of waveforms" : ""))
                                  .c_str());
  std::printf("%zu speaker%s: %s\n", report.speakers.size(), report.speakers.size() == 1 ? "" : "s",
              joined(report.speakers, ", ").c_str());
  if (report.excluded > 0) std::printf("%lld left out, for --exclude has their text\n", count(report.excluded));
  if (report.repeated > 0)
    std::fprintf(stderr, "warning: %lld clips to train on have a text that the list of clips for validation has, too\n",
                 count(report.repeated));
  if (report.bad > 0)
    std::printf("%lld left out as unusable, %lld of them without a recording%s\n", count(report.bad),
                count(report.missing), build.dry_run ? "" : (": see " + (build.out / kBadSampleList).string()).c_str());
  if (report.listed_twice > 0)
    std::printf("%lld of them because their recording is listed before, or with another text\n",
                count(report.listed_twice));
  if (report.wrong_speed > 0)
    std::printf("%lld of them because their pitch and spectrum are those of another sample rate than their header's\n",
                count(report.wrong_speed));
  if (report.other_words > 0)
    std::printf("%lld of them because the model of --check-model finds other words in them than their texts have\n",
                count(report.other_words));
  if (!report.skipped.empty())
    std::fprintf(stderr, "warning: characters that the voice has no symbol for were passed over: %s\n",
                 without_controls(joined(report.skipped, " ")).c_str());
}

}  // namespace

int run_prepare_tts(const std::vector<std::string>& words) {
  PrepareTts command;
  auto table = table_of(command);
  add_trace(table, command.trace);
  if (const auto code = start_command(table, words)) return *code;
  for (const char* share : {"most-missing-words", "most-other-words"})
    if (table.given_by(share) == SourceKind::flag && command.check_model.empty())
      return complain({Fault::usage, std::string("--") + share + ": no model looks for words in the clips",
                       "Name one with --check-model, such as tiny.en"},
                      kUsage);
  if (auto settled = settle(command); !settled) return complain(settled.error(), kUsage);
  const auto files = claim_set(command.build, command.trace);
  if (!files) return complain(files.error());
  CommandTrace trace;
  if (const auto begun = trace.begin(command.trace, *files, command_line("tutti prepare tts", words)); !begun)
    return complain(begun.error());
  Interrupt interrupt;
  if (auto checked = check_by_model(command, interrupt); !checked) return complain(checked.error());
  BuildProgress progress(interrupt, "clips");
  PipelineRecorder recorder("prepare", "clips",
                            {{.name = "make", .threads = command.build.threads, .threads_flag = "--threads"},
                             {.name = "write", .resource = StageResource::io}});
  TuningPlan plan{.pipeline = "prepare tts",
                  .stages = {{"make", StageResource::cpu, command.threads == 0}, {"write", StageResource::io}}};
  if (auto set = set_tuning(command.tuning, plan); !set) return complain(set.error(), kUsage);
  recorder.tune(std::move(plan));
  command.build.threads = recorder.threads_of("make", command.build.threads);
  command.build.watched = &recorder;
  const auto report =
      build_voice_set(command.build, [&](std::int64_t done, std::int64_t all) { return progress(done, all); });
  if (report) print_report(command.build, *report);
  const int code = report ? static_cast<int>(kDone) : complain(report.error(), interrupt);
  return end_with_finding(recorder.conclude(), code);
}

}  // namespace tutti
