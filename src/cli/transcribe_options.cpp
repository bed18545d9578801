#include "base/build_id.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/try.h"
#include "cli/command_trace.h"
#include "cli/flags.h"
#include "cli/flags/transcript_flags.h"
#include "cli/transcribe_command.h"
#include "hub/memory_plan.h"
#include "hub/model_shape.h"
#include "text/error_rate.h"
#include "transcribe/done_command.h"
#include "transcribe/speech_chunks.h"
#include "transcript/fallback.h"

namespace tutti {
namespace {

void add_model(OptionTable& table, TranscribeCommand& c) {
  table.group("Model and machine");
  table.add("model", c.model, "DIR|NAME",
            "a Hugging Face or faster-whisper folder, an OpenAI .pt, a whisper.cpp file, or a name as 'tutti models' "
            "lists it (tiny.en, large-v3, turbo, ...)");
  table.add("model-dir", c.model_dir, "DIR", "look here first for a model given by name");
  add_compute_type(table, c.compute_type,
                   "what the network computes in; default: float32 on a CPU, float16 on a GPU; auto: the fastest that "
                   "passes a self-test on the device");
  table.add("fp16", c.fp16, "True|False", "False: float32 on a GPU too, where no --compute-type is named");
  table.add("batch-size", c.batch_size, "N|auto", "windows decoded together at most; auto: by device and memory");
  table.add_switch("deterministic", c.deterministic,
                   "fixed shapes: the same transcript whatever else is in work, in any order; slower");
}

void add_machine(OptionTable& table, TranscribeCommand& c) {
  table.add(
      "device", c.device, "DEVICE",
      "auto (the GPU with the most free memory, else the CPU), cpu, cpu:N (core N), cuda:N (N-th in PCI order), or "
      "a GPU's UUID");
  table.add("threads", c.threads, "N", "CPU threads of the network; 0 or None: one per core");
  table.add("files-at-once", c.files_at_once, "N", "files in work together; 0: as many as the worker steps together");
  add_tuning(table, c.tuning, "those that decode and prepare files");
}

void add_output(OptionTable& table, TranscribeCommand& c) {
  table.group("Output");
  add_outputs(table, c.output_dir, c.output_format);
  table
      .add("name-by", c.name_by, "stem|path",
           "a/talk.mp3 becomes talk.srt, or with path talk.mp3.srt, below the folder that all inputs share")
      .choices = {"stem", "path"};
  table.add_switch("skip-existing", c.skip_existing,
                   "leave out files whose outputs are all there and newer: goes on after a stop");
  table.add("verbose", c.verbose, "True|False|None",
            "False: a progress bar instead of the text, also in a pipe; None: neither");
  table.add_switch("quiet", c.quiet, "print nothing but errors, and which files were replaced").letter = 'q';
  table.add_switch("json", c.json, "events as JSON, one a line, on standard output");
  table.add_switch("dry-run", c.dry_run, "say what would be read and written, and stop; with --json as events");
  add_on_done(table, c.on_done);
  add_trace(table, c.trace);
}

void add_decoding(OptionTable& table, TranscribeCommand& c) {
  table.group("Decoding");
  table.add("task", c.task, "TASK", "transcribe, or translate into English").choices = {"transcribe", "translate"};
  table.add("language", c.language, "LANGUAGE|None",
            "a code, a tag or a name (en, en-US, English); None or auto: detected on the first 30 s");
  table.add("temperature", c.temperature, "T", "0: the most probable token; above: sampled");
  table.add("temperature-increment-on-fallback", c.temperature_increment_on_fallback, "T|None",
            "added, up to 1, while a window fails a threshold below; None: no second try");
  add_search(table, c.decoding);
  table.add("initial-prompt", c.initial_prompt, "TEXT|None",
            "text the model takes for the preceding text: names, spelling; its last 223 tokens count");
  table.add("carry-initial-prompt", c.carry_initial_prompt, "True|False",
            "keep the initial prompt before every window");
  table.add(
      "condition-on-previous-text", c.condition_on_previous_text, "True|False",
      "prompt each window with the text before, which --batched never does; False: less consistent, less prone to "
      "loops");
  table.add("compression-ratio-threshold", c.compression_ratio_threshold, "X|None",
            "text that zlib shrinks more is a loop: try again");
  table.add("logprob-threshold", c.logprob_threshold, "X|None",
            "a lower average log-probability is a failure: try again");
  table.add("no-speech-threshold", c.no_speech_threshold, "X|None",
            "a window more probably silent than this, and improbable as text, is skipped");
  table.add("clip-timestamps", c.clip_timestamps, "S,E,S,E,...",
            "seconds to transcribe, from start to end; a missing last end is the file's");
  table.add_switch("without-timestamps", c.without_timestamps, "text only, one segment a window");
  table.add("hotwords", c.hotwords, "TEXT|None",
            "names and terms to expect, given to the model before every window: 223 tokens at most; not with --prefix");
  table.add(
      "hotwords-file", c.hotwords_file, "FILE",
      "the same from a file, UTF-8, a name or term a line, # before comments; those of --hotwords come first, and "
      "a warning names what did not fit");
  table.add("prefix", c.prefix, "TEXT|None",
            "text that every window is taken to begin with; the transcript goes on behind it, without it");
}

void add_words(OptionTable& table, TranscribeCommand& c) {
  table.group("Word times");
  table.add_switch("word-timestamps", c.word_timestamps,
                   "say when each word was spoken, and fit segments and windows to their words");
  table.add("prepend-punctuations", c.prepend_punctuations, "SIGNS", "signs that belong to the word behind them");
  table.add("append-punctuations", c.append_punctuations, "SIGNS", "signs that belong to the word before them");
  table.add("hallucination-silence-threshold", c.hallucination_silence_threshold, "SECONDS|None",
            "skip silence longer than this beside words that look invented, and drop those; needs --word-timestamps");
  add_subtitle_flags(table, c.subtitles, "needs --word-timestamps");
}

void add_spelling(OptionTable& table, TranscribeCommand& c) {
  table.group("Spelling and layout");
  add_spelling(table, c.replace, c.paragraphs);
}

}  // namespace

void add_transcribe(OptionTable& table, TranscribeCommand& c) {
  table.positional(c.files, "FILE...", "audio, or video with an audio track; - reads standard input");
  add_model(table, c);
  add_machine(table, c);
  add_output(table, c);
  add_vad(table, c.vad);
  add_audio(table, c.audio);
  add_decoding(table, c);
  add_words(table, c);
  add_diarize(table, c.diarize);
  add_spelling(table, c);
}

void add_on_done(OptionTable& table, std::string& command) {
  table.add(
      "on-done", command, "CMD",
      "a shell command for each recording, once its outputs are in place, as in 'notify {input} {json}'; {input}, "
      "{txt}, {srt} and so on become quoted paths; the run waits for it, and where one fails, ends with 3");
}

void add_speech(OptionTable& table, TranscribeCommand& c) {
  add_model(table, c);
  add_vad(table, c.vad);
  add_audio(table, c.audio);
  add_decoding(table, c);
  add_words(table, c);
  add_diarize(table, c.diarize);
  add_spelling(table, c);
}

Result<std::string> hot_words(const TranscribeCommand& c) {
  std::string words = c.hotwords.value_or("");
  if (c.hotwords_file.empty()) return words;
  const auto lines = read_lines(c.hotwords_file);
  if (!lines) return fail_in("--hotwords-file", lines.error());
  for (const std::string_view line : *lines)
    if (const auto word = trimmed(line); !word.empty() && !word.starts_with('#'))
      words.append(words.empty() ? "" : ", ").append(word);
  return words;
}

OutputOptions output_options(const TranscribeCommand& c) {
  OutputOptions options{.folder = c.output_dir,
                        .name_by = c.name_by == "path" ? NameBy::path : NameBy::stem,
                        .skip_existing = c.skip_existing};
  if (c.output_format != "all") options.formats = parse_formats(c.output_format).value();
  return options;
}

namespace {

/// The clips are starts and ends alternately.
Result<void> check_clips(const std::vector<double>& clips) {
  for (const double second : clips)
    if (!(second >= 0))
      return fail(Fault::usage, "--clip-timestamps: expected seconds of 0 or more, found " + show_value(second));
  for (std::size_t end = 1; end < clips.size(); end += 2)
    if (clips[end] < clips[end - 1])
      return fail(Fault::usage, "--clip-timestamps: expected no end before its start, found " +
                                    show_value(clips[end - 1]) + "," + show_value(clips[end]));
  return {};
}

/// "auto" is 0.
Result<std::int32_t> batch_size_of(const TranscribeCommand& c) {
  std::int32_t size = 0;
  if (c.batch_size == "auto") return size;
  const auto read = read_value(c.batch_size, size);
  if (read && size >= 1 && size <= kLargestBatch) return size;
  return fail(Fault::usage,
              "--batch-size: expected auto, or 1 to " + show_value(kLargestBatch) + ", found '" + c.batch_size + "'");
}

/// When a window is tried again or skipped.
void set_thresholds(const TranscribeCommand& c, LongFormOptions& rules) {
  rules.compression_ratio_threshold = c.compression_ratio_threshold;
  rules.logprob_threshold = c.logprob_threshold;
  rules.no_speech_threshold = c.no_speech_threshold;
}

/// The text that the model gets before it decodes.
Result<void> set_prompt(const TranscribeCommand& c, LongFormOptions& rules) {
  auto words = TRY(hot_words(c));
  rules.initial_prompt = c.initial_prompt.value_or("");
  rules.carry_initial_prompt = c.carry_initial_prompt;
  rules.hot_words = std::move(words);
  rules.prefix = c.prefix.value_or("");
  if (!rules.hot_words.empty() && !rules.prefix.empty()) log(Level::warning, "--hotwords has no effect with --prefix");
  if (rules.carry_initial_prompt && rules.initial_prompt.empty())
    log(Level::warning, "--carry-initial-prompt has no effect without --initial-prompt");
  return {};
}

/// Those given that say something of word times.
std::vector<const char*> word_flags(const TranscribeCommand& c) {
  std::vector<const char*> given;
  if (c.hallucination_silence_threshold) given.push_back("--hallucination-silence-threshold");
  if (c.prepend_punctuations != WordRules{}.prepend_punctuations) given.push_back("--prepend-punctuations");
  if (c.append_punctuations != WordRules{}.append_punctuations) given.push_back("--append-punctuations");
  return given;
}

/// Word times and what depends on them; as the reference, layout without them is refused.
Result<void> set_words(const TranscribeCommand& c, TranscribeOptions& options) {
  const std::string layout = first_subtitle_flag(c.subtitles);
  if (!c.word_timestamps && !layout.empty()) return fail(Fault::usage, layout + " requires --word-timestamps");
  options.writer = TRY(writer_options(c.subtitles));
  warn_without_subtitles(c.subtitles, c.output_format);
  const auto& threshold = c.hallucination_silence_threshold;
  if (threshold.value_or(0) < 0)
    return fail(Fault::usage,
                "--hallucination-silence-threshold: expected seconds from 0 on, found " + show_value(*threshold));
  if (!c.word_timestamps) {
    for (const char* flag : word_flags(c))
      log(Level::warning, std::string(flag) + " has no effect without --word-timestamps");
    return {};
  }
  options.long_form.words = WordRules{.prepend_punctuations = c.prepend_punctuations,
                                      .append_punctuations = c.append_punctuations,
                                      .hallucination_silence_threshold = threshold};
  return {};
}

/// Which way the run goes through its files.
Result<void> set_way(const TranscribeCommand& c, TranscribeOptions& options) {
  if (c.vad.target_hz && !takes_keyed_tone(options.model))
    return fail(Fault::usage,
                "--target-hz: chooses the keyed tone that a model gets alone, and " + options.model.string() +
                    " gets all sound",
                "Leave it out, or take a model of Morse: its config.json has \"tutti_audio_filter\": \"keyed_tone\"");
  auto vad = TRY(vad_options(c.vad, c.clip_timestamps, is_keyed(options.model)));
  options.vad = vad;
  options.batched = c.vad.batched;
  if (c.vad.batched && c.files_at_once > 0)
    return fail(Fault::usage, "--files-at-once: with --batched it is windows that are in work together",
                "Leave one of the two out");
  return {};
}

Result<void> set_language(const TranscribeCommand& c, TranscribeOptions& options) {
  const auto language = plain_language(c.language);
  if (!language) return {};
  options.long_form.language = TRY(language_code_of(*language));
  options.writer.language = language;
  return {};
}

/// What is done with a transcript when it is whole.
Result<void> set_results(const TranscribeCommand& c, TranscribeOptions& options) {
  options.replacements = TRY(replacement_list(c.replace));
  if (auto set = set_paragraphs(c.paragraphs, c.output_format, options.writer); !set) return set;
  if (c.on_done.empty()) return {};
  options.on_done = std::make_shared<DoneCommand>(c.on_done);
  const auto formats = parse_formats(c.output_format);
  return formats ? options.on_done->expect_outputs(*formats) : tl::unexpected(formats.error());
}

/// Where only loading the model shows its vocabulary, the worker's answer is checked again.
Result<void> check_tokens(const TranscribeOptions& options) {
  const auto shape = model_shape(options.model);
  return check_suppressed(options.decoding.suppress_tokens, shape ? std::optional(shape->vocabulary) : std::nullopt);
}

}  // namespace

Result<TranscribeOptions> run_options(const TranscribeCommand& c, const std::filesystem::path& model) {
  TranscribeOptions options;
  options.build_id = build_id();
  options.model = model;
  options.device = c.device;
  options.compute_type = c.compute_type;
  options.threads = c.threads.value_or(0);
  options.deterministic = c.deterministic;
  options.files_at_once = c.files_at_once;
  TRY(check_machine({c.device, options.threads, c.files_at_once}));
  TRY(check_clips(c.clip_timestamps));
  options.batch_size = TRY(batch_size_of(c));
  if (!c.fp16 && c.compute_type == "default") options.compute_type = "float32";

  TRY(set_way(c, options));
  options.audio = TRY(audio_choice(c.audio));

  auto temperatures = TRY(fallback_temperatures(c.temperature, c.temperature_increment_on_fallback));
  LongFormOptions& rules = options.long_form;
  rules.temperatures = std::move(temperatures);
  rules.translate = c.task == "translate";
  set_thresholds(c, rules);
  rules.condition_on_previous_text = c.condition_on_previous_text;
  rules.clip_timestamps = c.clip_timestamps;
  rules.without_timestamps = c.without_timestamps;
  TRY(set_prompt(c, rules));
  TRY(set_words(c, options));
  TRY(set_results(c, options));
  TRY(set_language(c, options));
  options.decoding = c.decoding;
  options.decoding.timestamps = !c.without_timestamps;
  TRY(check_tokens(options));

  TRY(expect_speakers_for(c.output_format, c.diarize));
  options.diarize = TRY(diarize_options(c.diarize));

  TRY(check_search(c.decoding));
  if (c.decoding.patience && c.temperature > 0)
    log(Level::warning, "--patience has no effect above temperature 0, where nothing is searched");
  fit_keying(options, is_keyed(options.model));
  return options;
}

}  // namespace tutti
