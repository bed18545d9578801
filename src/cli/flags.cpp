#include "cli/flags.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/output_ownership.h"
#include "base/strings.h"
#include "cli/settings/values.h"
#include "device/device_spec.h"
#include "device/emulated_spec.h"
#include "text/languages.h"
#include "transcribe/speech_chunks.h"
#include "transcript/long_form.h"

namespace tutti {

void add_outputs(OptionTable& table, std::filesystem::path& folder, std::string& format) {
  table.add("output-dir", folder, "DIR", "where outputs are written; created when missing").letter = 'o';
  Option& names = table.add("output-format", format, "FORMAT",
                            "txt, vtt, srt, tsv, json, or all of these; rttm: the turns of --diarize");
  names.letter = 'f';
  names.choices = {"txt", "vtt", "srt", "tsv", "json", "rttm", "all"};
}

void add_compute_type(OptionTable& table, std::string& type, std::string meaning) {
  table.add("compute-type", type, "TYPE", std::move(meaning)).choices = {
      "default", "auto", "float32", "tf32", "bfloat16", "float16", "int8", "int8_float16"};
}

Result<void> expect_ranges(std::span<const FlagRange> ranges) {
  for (const auto& [flag, value, least, most] : ranges)
    if (!(value >= least && value <= most))
      return fail(Fault::usage, std::string(flag) + ": expected " + number_text(least) + " to " + number_text(most) +
                                    ", found " + number_text(value));
  return {};
}

Result<void> expect_not_typed(OptionTable& table, std::initializer_list<const char*> names, const std::string& why) {
  for (const char* name : names)
    if (table.given_by(name) == SourceKind::flag)
      return fail(Fault::usage, "--" + std::string(name) + why, "Leave it out");
  return {};
}

Result<void> check_thread_count(const char* flag, std::int32_t count) {
  constexpr std::int32_t kMostThreads = 1024;  // beyond, thread after thread is made and nothing else happens
  if (count >= 0 && count <= kMostThreads) return {};
  return fail(Fault::usage,
              std::string(flag) + ": expected 0 to " + show_value(kMostThreads) + ", found " + show_value(count));
}

Result<void> check_machine(const MachineFlags& flags) {
  const auto device = parse_device(flags.device);
  if (!device) return fail_in("--device", device.error());
  if (auto counted = check_thread_count("--threads", flags.threads); !counted) return counted;
  if (auto counted = check_thread_count("--files-at-once", flags.files_at_once); !counted)
    return counted;  // a thread each
  if (!device->core || flags.threads <= 1) return {};
  return fail(Fault::usage,
              "--threads " + show_value(flags.threads) + ": " + flags.device + " is one core, for one thread",
              "Leave --threads out, or take the whole processor: --device cpu");
}

Result<std::string> language_code_of(const std::string& language) {
  if (const auto code = to_language_code(language)) return std::string(*code);
  if (const auto code = language_of_tag(language)) return std::string(*code);
  if (ascii_lower(language) == "auto")
    return fail(Fault::usage, "--language: expected the language of the texts, found auto",
                "Give a code, a tag or an English name (de, zh-CN, German)");
  return fail(Fault::usage, "--language: '" + language + "' is no language Whisper knows",
              "Give a code, a tag or an English name (de, zh-CN, German), or auto to have it detected");
}

std::optional<std::string> plain_language(const std::optional<std::string>& language) {
  if (!language || ascii_lower(*language) == "auto") return std::nullopt;
  if (to_language_code(*language)) return language;
  if (const auto code = language_of_tag(*language)) return std::string(*code);
  return language;
}

void add_audio(OptionTable& table, AudioFlags& flags) {
  table.add("track", flags.track, "N|None",
            "decode this audio track, from 1 as the warning about several tracks counts; None: the default track, or "
            "where it has no speech the one with most");
  table.add("channel", flags.channel, "N|mix|None",
            "decode this channel alone, from 1; mix: all of them; None: all, or the loudest where they cancel out");
}

Result<AudioChoice> audio_choice(const AudioFlags& flags) {
  constexpr std::int32_t kMostChannels = 1024;
  AudioChoice choice{.track = flags.track.value_or(0)};
  if (flags.track && *flags.track < 1)
    return fail(Fault::usage, "--track: expected a number from 1 on, found " + show_value(*flags.track));
  if (!flags.channel) return choice;
  choice.channel = *flags.channel == "mix" ? AudioChoice::kMix : number_in<std::int32_t>(*flags.channel).value_or(0);
  if (*flags.channel != "mix" && (choice.channel < 1 || choice.channel > kMostChannels))
    return fail(Fault::usage, "--channel: expected a number from 1 on, or mix, found '" + *flags.channel + "'");
  return choice;
}

namespace {

Result<void> check_count(const char* flag, std::int32_t found) {
  if (found >= 1 && found <= kMostBeams) return {};
  return fail(Fault::usage, std::string(flag) + ": expected 1 to " + show_value(kMostBeams) + ", or None, found " +
                                show_value(found));
}

Result<void> check_patience(const SearchFlags& flags) {
  if (!flags.patience) return {};
  if (!flags.beam_size) {
    return fail(Fault::usage, "--patience has no meaning without --beam-size",
                "It sets how many hypotheses of a beam search must have ended");
  }
  const double patience = *flags.patience;
  if (!(patience > 0 && patience <= kMostPatience)) {
    return fail(Fault::usage, "--patience: expected above 0 and at most " + show_value(kMostPatience) + ", found " +
                                  show_value(patience));
  }
  if (std::nearbyint(*flags.beam_size * patience) < 1) {
    return fail(Fault::usage, "--patience " + show_value(patience) + " with --beam-size " +
                                  show_value(*flags.beam_size) + " rounds to no hypothesis at all");
  }
  return {};
}

}  // namespace

void add_search(OptionTable& table, SearchFlags& flags) {
  table.add("best-of", flags.best_of, "N|None", "samples to choose from at a temperature above 0");
  table.add("beam-size", flags.beam_size, "N|None",
            "hypotheses followed side by side at temperature 0; None: the most probable token each time, much faster");
  table.add("patience", flags.patience, "X|None",
            "a beam search goes on until N times X hypotheses have ended; None: 1; needs --beam-size");
  table.add("length-penalty", flags.length_penalty, "X|None",
            "0 to 1: hypotheses rank by log-probability / ((5 + tokens) / 6)^X; None: per token");
}

Result<void> set_search(const SearchFlags& flags, DecodingOptions& options) {
  if (auto checked = check_count("--best-of", flags.best_of.value_or(1)); !checked) return checked;
  if (auto checked = check_count("--beam-size", flags.beam_size.value_or(1)); !checked) return checked;
  if (auto checked = check_patience(flags); !checked) return checked;
  const double penalty = flags.length_penalty.value_or(0);
  if (!(penalty >= 0 && penalty <= 1)) {
    return fail(Fault::usage, "--length-penalty: expected 0 to 1, or None, found " + show_value(penalty));
  }
  options.best_of = flags.best_of.value_or(1);
  options.beam_size = flags.beam_size.value_or(0);
  options.patience = flags.patience.value_or(1);
  options.length_penalty = flags.length_penalty.value_or(-1);
  return {};
}

namespace {

bool is_set(const std::optional<std::int32_t>& value) {
  return value.value_or(0) != 0;
}

Result<void> check_not_negative(const char* flag, const std::optional<std::int32_t>& value) {
  if (value.value_or(0) >= 0) return {};
  return fail(Fault::usage, std::string(flag) + ": expected 1 or more, or None, found " + show_value(*value));
}

}  // namespace

void add_subtitle_flags(OptionTable& table, SubtitleFlags& flags, const std::string& needs) {
  table.add("max-line-width", flags.max_line_width, "N|None",
            "break lines of srt and vtt before they have more characters; " + needs);
  table.add("max-line-count", flags.max_line_count, "N|None",
            "lines a subtitle; with --max-line-width, subtitles run on across segments; " + needs);
  table.add("max-words-per-line", flags.max_words_per_line, "N|None", "words a subtitle; " + needs);
  table.add_switch("highlight-words", flags.highlight_words,
                   "a subtitle for every word as it is spoken, the word underlined; " + needs);
}

std::string first_subtitle_flag(const SubtitleFlags& flags) {
  if (flags.highlight_words) return "--highlight-words";
  if (is_set(flags.max_line_count)) return "--max-line-count";
  if (is_set(flags.max_line_width)) return "--max-line-width";
  if (is_set(flags.max_words_per_line)) return "--max-words-per-line";
  return "";
}

void warn_without_subtitles(const SubtitleFlags& flags, std::string_view output_format) {
  const std::string flag = first_subtitle_flag(flags);
  if (flag.empty() || (output_format != "txt" && output_format != "tsv" && output_format != "json")) return;
  log(Level::warning, flag + " has no effect on " + std::string(output_format) + ": it lays out srt and vtt");
}

Result<WriterOptions> writer_options(const SubtitleFlags& flags) {
  if (auto checked = check_not_negative("--max-line-width", flags.max_line_width); !checked)
    return tl::unexpected(checked.error());
  if (auto checked = check_not_negative("--max-line-count", flags.max_line_count); !checked)
    return tl::unexpected(checked.error());
  if (auto checked = check_not_negative("--max-words-per-line", flags.max_words_per_line); !checked)
    return tl::unexpected(checked.error());
  if (is_set(flags.max_line_count) && !is_set(flags.max_line_width))
    log(Level::warning, "--max-line-count has no effect without --max-line-width");
  if (is_set(flags.max_words_per_line) && is_set(flags.max_line_width))
    log(Level::warning, "--max-words-per-line has no effect with --max-line-width");
  return WriterOptions{.max_line_width = flags.max_line_width,
                       .max_line_count = flags.max_line_count,
                       .max_words_per_line = flags.max_words_per_line,
                       .highlight_words = flags.highlight_words};
}

void add_spelling(OptionTable& table, std::filesystem::path& replace, std::optional<double>& paragraphs) {
  table.add("replace", replace, "FILE",
            "write texts otherwise, in every format: UTF-8, old, a tab and new in a line, # before comments; whole "
            "words in any case, the longest first; words keep their times; default: none");
  table.add(
      "paragraphs", paragraphs, "SECONDS|None",
      "txt as running text with an empty line after each pause of so long, or where another speaker begins; None: "
      "a line for each segment");
}

Result<std::shared_ptr<const ReplacementList>> replacement_list(const std::filesystem::path& replace) {
  if (replace.empty()) return nullptr;
  auto list = ReplacementList::read(replace);
  if (!list) return fail_in("--replace", list.error());
  return std::make_shared<const ReplacementList>(std::move(*list));
}

Result<void> set_paragraphs(const std::optional<double>& paragraphs, std::string_view output_format,
                            WriterOptions& options) {
  if (!paragraphs) return {};
  if (!(*paragraphs > 0 && std::isfinite(*paragraphs)))
    return fail(Fault::usage,
                "--paragraphs: expected a pause of more than 0 seconds, or None, found " + show_value(*paragraphs));
  if (output_format != "txt" && output_format != "all")
    log(Level::warning, "--paragraphs has no effect on " + std::string(output_format) + ": it lays out txt");
  options.paragraphs = paragraphs;
  return {};
}

namespace {

/// The first VAD setting that was given, or nothing.
std::string_view given(const VadFlags& f) {
  if (f.threshold) return "--vad-threshold";
  if (f.neg_threshold) return "--vad-neg-threshold";
  if (f.min_speech_duration_ms) return "--vad-min-speech-duration-ms";
  if (f.max_speech_duration_s) return "--vad-max-speech-duration-s";
  if (f.min_silence_duration_ms) return "--vad-min-silence-duration-ms";
  if (f.speech_pad_ms) return "--vad-speech-pad-ms";
  return f.method == "silero" ? "" : "--vad-method";
}

/// Every piece of speech has its padding on both sides, and with --batched a piece is no longer than a window.
Result<void> check_padding(const VadFlags& f, std::int32_t pad_ms) {
  constexpr std::int32_t kMost = 14'000;  // two of them leave 2 s of speech in a window of 30 s
  if (!f.batched || pad_ms <= kMost) return {};
  return fail(Fault::usage,
              "--vad-speech-pad-ms: with --batched, expected at most " + std::to_string(kMost) +
                  ", which leave 2 s of a window to speech, found " + std::to_string(pad_ms),
              "Take less, or --vad without --batched");
}

}  // namespace

void add_vad(OptionTable& table, VadFlags& f) {
  table.group("Speech detection");
  table.add_switch(
      "batched", f.batched,
      "cut at silence into windows that know nothing of each other, many at once: fastest, less consistent");
  table.add_switch("vad", f.vad, "leave out what is not speech, as --batched always does; or --vad-filter").alias =
      "vad-filter";
  table.add("vad-method", f.method, "METHOD", "silero: a small neural network; energy: loudness over the background")
      .choices = {"silero", "energy"};
  table.add("vad-threshold", f.threshold, "P|None", "speech begins at this probability; None: 0.5");
  table.add("vad-neg-threshold", f.neg_threshold, "P|None",
            "speech ends below this probability; None: 0.15 less than --vad-threshold, but at least 0.01");
  table.add("vad-min-speech-duration-ms", f.min_speech_duration_ms, "MS|None", "drop shorter speech; None: 0");
  table.add("vad-max-speech-duration-s", f.max_speech_duration_s, "S|None",
            "cut longer speech; None: never, with --batched after a window");
  table.add("vad-min-silence-duration-ms", f.min_silence_duration_ms, "MS|None",
            "shorter silence is left in; None: 2000, with --batched 160");
  table.add("vad-speech-pad-ms", f.speech_pad_ms, "MS|None", "kept before and after speech; None: 400");
}

Result<std::optional<VadOptions>> vad_options(const VadFlags& f, const std::vector<double>& clips) {
  if (!f.vad && !f.batched) {
    if (const auto flag = given(f); !flag.empty())
      return fail(Fault::usage, std::string(flag) + ": nothing is left out without VAD", "Add --vad or --batched");
    return std::nullopt;
  }
  if (!std::is_sorted(clips.begin(), clips.end()))
    return fail(Fault::usage, "--clip-timestamps: with --vad or --batched, expected clips in order that do not overlap",
                "Sort and join them, or leave VAD out");
  const VadOptions defaults;
  const VadOptions options{.method = f.method == "energy" ? VadMethod::energy : VadMethod::silero,
                           .threshold = f.threshold.value_or(defaults.threshold),
                           .neg_threshold = f.neg_threshold,
                           .min_speech_duration_ms = f.min_speech_duration_ms.value_or(defaults.min_speech_duration_ms),
                           .max_speech_duration_s = f.max_speech_duration_s.value_or(defaults.max_speech_duration_s),
                           .min_silence_duration_ms = f.min_silence_duration_ms.value_or(
                               f.batched ? kBatchedSilenceMs : defaults.min_silence_duration_ms),
                           .speech_pad_ms = f.speech_pad_ms.value_or(defaults.speech_pad_ms)};
  if (auto checked = check(options); !checked) return tl::unexpected(checked.error());
  if (auto checked = check_padding(f, options.speech_pad_ms); !checked) return tl::unexpected(checked.error());
  return options;
}

namespace fs = std::filesystem;

namespace {

/// The folder in which its content is put together before it appears whole. None: a pipe or a device is written to
/// directly.
std::optional<fs::path> folder_to_write_in(const fs::path& file) {
  std::error_code ignored;
  if (fs::is_other(file, ignored)) return {};
  return folder_of(file);
}

}  // namespace

void add_tuning(OptionTable& table, TuningFlags& flags, const std::string& what) {
  table.add_switch("no-tune", flags.no_tune,
                   "leave the threads as they are at the start; without it a run measures its stages and sets " + what +
                       ", and later runs like it on this machine begin with them");
  table.add("memory", flags.memory, "SIZE",
            "what tuning may let the run take, such as 4GiB; default: four fifths of what is available");
}

Result<void> set_tuning(const TuningFlags& flags, TuningPlan& plan) {
  plan.is_on = !flags.no_tune;
  if (flags.memory.empty()) return {};
  plan.memory = parse_bytes(flags.memory);
  if (!plan.memory) plan.memory = parse_bytes(flags.memory + "B");
  if (!plan.memory || plan.memory->value <= 0)
    return fail(Fault::usage, "--memory: expected a size such as 4GiB, found '" + flags.memory + "'");
  return {};
}

Result<void> expect_output_file(const std::string& flag, const fs::path& file) {
  const std::string thing = flag + " " + file.string();
  std::error_code why;
  if (fs::is_directory(file, why)) return fail(Fault::usage, thing + ": expected a file, found a folder");
  if (file.empty()) return {};
  const auto folder = folder_to_write_in(file);
  if (!folder) return {};
  why = why_not_writable(*folder);
  if (why) return tl::unexpected(system_error(thing, "cannot be written", why.value()));
  return {};
}

Result<void> expect_other_out(const fs::path& out, const fs::path& input) {
  if (resolved_path(out) != resolved_path(input)) return {};
  return fail(Fault::usage, "--out " + out.string() + ": " + input.string() + " is read, and not to be filled",
              "Name another folder with --out");
}

}  // namespace tutti
