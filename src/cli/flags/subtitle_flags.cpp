#include "cli/flags/subtitle_flags.h"

#include "base/log.h"

namespace tutti {
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

}  // namespace tutti
