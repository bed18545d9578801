#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audio/audio_choice.h"
#include "audio/vad/speech.h"
#include "base/error.h"
#include "cli/settings/option_table.h"
#include "profile/tuning_store.h"
#include "text/replacement_list.h"
#include "transcribe/remote_windows.h"
#include "transcript/writers.h"

namespace tutti {

// Flags that several commands have in the same words.

/// -o and -f of a command that writes transcripts.
void add_outputs(OptionTable& table, std::filesystem::path& folder, std::string& format);

/// --compute-type, which takes the name of any. `meaning`: what it is for there.
void add_compute_type(OptionTable& table, std::string& type, std::string meaning);

/// What --device, --threads and --files-at-once say.
struct MachineFlags {
  std::string device{};
  std::int32_t threads = 0;
  std::int32_t files_at_once = 0;
};

/// A number that a flag gives, and its bounds, which belong to it.
struct FlagRange {
  const char* flag;
  double value, least, most;
};

/// Fault::usage names the first flag that is beyond its bounds.
Result<void> expect_ranges(std::span<const FlagRange> ranges);

/// Fault::usage for the first of these flags that was typed. `why` goes on behind its name, as in " has no effect
/// without recordings".
Result<void> expect_not_typed(OptionTable& table, std::initializer_list<const char*> names, const std::string& why);

/// Checks that there may be so many threads; 0: a number that others decide.
Result<void> check_thread_count(const char* flag, std::int32_t count);

/// Checks that the flags are valid, each by itself and together; not whether this machine has the device.
Result<void> check_machine(const MachineFlags& flags);

/// The code of the language that --language names: a code, an English name, or a tag such as zh-CN.
Result<std::string> language_code_of(const std::string& language);

/// The value of --language in the form that a transcript depends on: none for "auto", the code for a tag (zh-CN), else
/// as it is, because a transcript's JSON repeats a name as it was given.
std::optional<std::string> plain_language(const std::optional<std::string>& language);

/// Which part of a file is decoded.
struct AudioFlags {
  std::optional<std::int32_t> track{};
  std::optional<std::string> channel{};
};

/// Binds --track and --channel.
void add_audio(OptionTable& table, AudioFlags& flags);

/// Fault::usage names the flag, what was expected and what was found.
Result<AudioChoice> audio_choice(const AudioFlags& flags);

/// How the most probable text is looked for, in openai-whisper's names and with its defaults on the command line.
struct SearchFlags {
  std::optional<std::int32_t> best_of = 5;
  std::optional<std::int32_t> beam_size = 5;
  std::optional<double> patience{};
  std::optional<double> length_penalty{};
};

/// Binds every field to its flag.
void add_search(OptionTable& table, SearchFlags& flags);

/// Writes the flags into `options`; an error names the flag that is not valid.
Result<void> set_search(const SearchFlags& flags, DecodingOptions& options);

/// The flags of openai-whisper that lay words out in subtitles, for every command that writes some. 0 means None.
struct SubtitleFlags {
  std::optional<std::int32_t> max_line_width{};
  std::optional<std::int32_t> max_line_count{};
  std::optional<std::int32_t> max_words_per_line{};
  bool highlight_words = false;
};

/// Binds every field to its flag. `needs`: where the word times come from, for the help.
void add_subtitle_flags(OptionTable& table, SubtitleFlags& flags, const std::string& needs);

/// The first of the flags that is set, with its hyphens, in the reference's order; empty if none is.
std::string first_subtitle_flag(const SubtitleFlags& flags);

/// Warns where one is set and --output-format has neither srt nor vtt.
void warn_without_subtitles(const SubtitleFlags& flags, std::string_view output_format);

/// Warns about flags that have no effect beside others. Negative numbers are an error.
Result<WriterOptions> writer_options(const SubtitleFlags& flags);

/// Binds --replace and --paragraphs: how a finished transcript is spelled, and its text laid out.
void add_spelling(OptionTable& table, std::filesystem::path& replace, std::optional<double>& paragraphs);

/// The list that --replace names; null where it names none. Errors name the file and the line.
Result<std::shared_ptr<const ReplacementList>> replacement_list(const std::filesystem::path& replace);

/// Writes --paragraphs into `options`. Fault::usage where it is no length of a pause; warns where no txt is written.
Result<void> set_paragraphs(const std::optional<double>& paragraphs, std::string_view output_format,
                            WriterOptions& options);

/// The parts of a file that are transcribed, in faster-whisper's names.
struct VadFlags {
  bool batched = false;
  bool vad = false;
  std::string method = "silero";
  std::optional<double> threshold{};
  std::optional<double> neg_threshold{};
  std::optional<std::int32_t> min_speech_duration_ms{};
  std::optional<double> max_speech_duration_s{};
  std::optional<std::int32_t> min_silence_duration_ms{};
  std::optional<std::int32_t> speech_pad_ms{};
};

/// Binds every field to its flag.
void add_vad(OptionTable& table, VadFlags& flags);

/// None: everything is transcribed. Fault::usage names the flag that is not valid, alone or with `clips`.
Result<std::optional<VadOptions>> vad_options(const VadFlags& flags, const std::vector<double>& clips);

/// Whether a run may choose its threads while it runs, and what it may take.
struct TuningFlags {
  bool no_tune = false;
  std::string memory{};
};

/// Binds --no-tune and --memory. `what`: what is tuned, for the help.
void add_tuning(OptionTable& table, TuningFlags& flags, const std::string& what);

/// Writes the flags into `plan`. Fault::usage where --memory is no size.
Result<void> set_tuning(const TuningFlags& flags, TuningPlan& plan);

/// Checks that OutputOwnership can write a file where a flag ("--report") wants it, as far as that can be found
/// out without writing it: better known before hours of work than behind them. One that is there already is replaced,
/// so its folder counts, too; a pipe is only opened when it is written. An empty path passes.
Result<void> expect_output_file(const std::string& flag, const std::filesystem::path& file);

/// Fault::usage where `input`, which is read, is the folder that --out names.
Result<void> expect_other_out(const std::filesystem::path& out, const std::filesystem::path& input);

}  // namespace tutti
