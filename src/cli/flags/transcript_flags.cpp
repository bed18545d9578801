#include "cli/flags/transcript_flags.h"

#include <cmath>
#include <utility>

#include "base/log.h"
#include "base/try.h"
#include "settings/values.h"

namespace tutti {

void add_outputs(OptionTable& table, std::filesystem::path& folder, std::string& format, const std::string& also) {
  table.add("output-dir", folder, "DIR", "where outputs are written; created when missing" + also).letter = 'o';
  Option& names = table.add("output-format", format, "FORMAT",
                            "txt, vtt, srt, tsv, json, or all of these; rttm: the turns of --diarize");
  names.letter = 'f';
  names.choices = {"txt", "vtt", "srt", "tsv", "json", "rttm", "all"};
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
  TRY(check_not_negative("--max-line-width", flags.max_line_width));
  TRY(check_not_negative("--max-line-count", flags.max_line_count));
  TRY(check_not_negative("--max-words-per-line", flags.max_words_per_line));
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

}  // namespace tutti
