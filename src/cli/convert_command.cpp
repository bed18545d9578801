#include "cli/convert_command.h"

#include <cstdio>
#include <filesystem>

#include "base/files.h"
#include "base/log.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/display/failure.h"
#include "transcribe/output_plan.h"
#include "transcript/transcript_json.h"
#include "transcript/writers.h"

namespace tutti {
namespace {

struct ConvertCommand {
  std::vector<std::string> files{};
  std::filesystem::path output_dir = ".";
  std::string output_format = "all";
  std::optional<std::int32_t> max_line_width{};
  std::optional<std::int32_t> max_line_count{};
  std::optional<std::int32_t> max_words_per_line{};
  bool highlight_words = false;
  std::string name_by = "stem";
};

void add_convert(OptionTable& table, ConvertCommand& c) {
  table.positional(c.files, "X.json...", "transcripts: Tutti's, openai-whisper's, whisperX's or the OpenAI API's JSON");
  table.add("output-dir", c.output_dir, "DIR", "where outputs are written; created when missing").letter = 'o';
  Option& format = table.add("output-format", c.output_format, "FORMAT", "txt, vtt, srt, tsv, json, or all but JSON");
  format.letter = 'f';
  format.choices = {"txt", "vtt", "srt", "tsv", "json", "all"};
  table.add("name-by", c.name_by, "stem|path", "talks/monday.json becomes monday.srt, or talks/monday.json.srt")
      .choices = {"stem", "path"};
  table.add("max-line-width", c.max_line_width, "N|None",
            "characters a subtitle line; needs word times in the transcript");
  table.add("max-line-count", c.max_line_count, "N|None", "lines a subtitle; needs word times");
  table.add("max-words-per-line", c.max_words_per_line, "N|None", "words a subtitle; needs word times");
  table.add_switch("highlight-words", c.highlight_words, "one subtitle a word, the word underlined; needs word times");
}

Result<void> convert(const PlannedFile& file, const std::vector<Format>& formats, const WriterOptions& options) {
  const auto text = read_file(file.input);
  if (!text) return tl::unexpected(text.error());
  const auto transcript = read_transcript_json(*text);
  if (!transcript) return tl::unexpected(transcript.error());
  for (std::size_t i = 0; i < formats.size(); ++i) {
    const auto content = format_transcript(*transcript, formats[i], options);
    if (!content) return tl::unexpected(content.error());
    if (auto written = write_file_atomically(file.outputs[i], *content); !written) return written;
    std::printf("%s\n", file.outputs[i].c_str());
  }
  return {};
}

}  // namespace

int run_convert(const std::vector<std::string>& arguments) {
  ConvertCommand command;
  OptionTable table("convert", "Write transcripts that exist as JSON in other formats; no model is needed.");
  add_convert(table, command);
  if (const auto code = start_command(table, arguments)) return *code;

  OutputOptions output{.folder = command.output_dir,
                       .name_by = command.name_by == "path" ? NameBy::path : NameBy::stem};
  // "all" leaves the source itself alone.
  if (command.output_format == "all")
    output.formats = {Format::txt, Format::vtt, Format::srt, Format::tsv};
  else
    output.formats = parse_formats(command.output_format).value();
  const auto plan = plan_outputs(command.files, output);
  if (!plan) return complain(plan.error(), kUsage);
  const WriterOptions options{.max_line_width = command.max_line_width,
                              .max_line_count = command.max_line_count,
                              .max_words_per_line = command.max_words_per_line,
                              .highlight_words = command.highlight_words};
  std::size_t failed = 0;
  for (const auto& file : *plan) {
    const auto converted = convert(file, output.formats, options);
    if (converted) continue;
    ++failed;
    log(Level::error, failure_line(file.input, converted.error()));
  }
  return failed == 0 ? kDone : kSomeFailed;
}

}  // namespace tutti
