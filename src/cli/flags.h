#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "audio/audio_choice.h"
#include "base/error.h"
#include "cli/flags/transcript_flags.h"  // IWYU pragma: export
#include "profile/tuning_store.h"
#include "settings/option_table.h"

namespace tutti {

// Flags that several commands have in the same words: the machine and its tuning, the language, the audio, files that
// are written. cli/flags/ has those of the search, of speech detection and of transcripts.

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

/// Whether a run may choose its threads while it runs, and what it may take.
struct TuningFlags {
  bool no_tune = false;
  std::string memory{};  // a size such as 4GiB; empty: four fifths of what is available
};

/// Binds --no-tune and --memory. `what`: what is tuned, for the help.
void add_tuning(OptionTable& table, TuningFlags& flags, const std::string& what);

/// Writes the flags into `plan`. Fault::usage where --memory is no size.
/// A size without a unit of bytes ("4Gi") is taken, too.
Result<void> set_tuning(const TuningFlags& flags, TuningPlan& plan);

/// Checks that OutputOwnership can write a file where a flag ("--report") wants it, as far as that can be found
/// out without writing it: better known before hours of work than behind them. One that is there already is replaced,
/// so its folder counts, too; a pipe is only opened when it is written. An empty path passes.
Result<void> expect_output_file(const std::string& flag, const std::filesystem::path& file);

}  // namespace tutti
