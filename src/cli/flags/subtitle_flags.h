#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/settings/option_table.h"
#include "transcript/writers.h"

namespace tutti {

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

}  // namespace tutti
