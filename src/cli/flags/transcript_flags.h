#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "settings/option_table.h"
#include "text/replacement_list.h"
#include "transcript/writers.h"

namespace tutti {

/// -o and -f of a command that writes transcripts. `also`: where else than to a folder, for the help.
void add_outputs(OptionTable& table, std::filesystem::path& folder, std::string& format, const std::string& also = "");

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

}  // namespace tutti
