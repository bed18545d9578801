#include <cstdio>
#include <filesystem>
#include <string>

#include "base/files.h"
#include "base/log.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/engine_process/engine_run.h"
#include "cli/flags.h"
#include "cli/flags/transcript_flags.h"
#include "cli/named_model.h"
#include "hub/find.h"
#include "hub/names.h"
#include "transcribe/output_plan.h"
#include "transcribe/reports/converted_transcript.h"
#include "transcribe/reports/run_report.h"

namespace tutti {
namespace {

struct ConvertCommand {
  std::vector<std::string> files{};
  std::filesystem::path output_dir = ".";
  std::string output_format = "all";
  std::string name_by = "stem";
  std::string to{};  // empty: by the name of the output
  std::string type = "float16";
  bool quiet = false;
  SubtitleFlags subtitles{};
  std::filesystem::path replace{};
  std::optional<double> paragraphs{};
};

/// Whether the first word means a model rather than a transcript: a path to one, the name of one, or what --to is for.
bool names_model(const ConvertCommand& c) {
  const std::string& word = c.files.front();
  std::error_code ignored;
  if (kind_of(word) || std::filesystem::is_directory(word, ignored)) return true;
  if (word.ends_with(".json")) return false;
  return !c.to.empty() || (!std::filesystem::exists(word, ignored) && resolve_name(word));
}

void add_convert(OptionTable& table, ConvertCommand& c) {
  table.positional(
      c.files, "X.json...|MODEL",
      "transcripts: Tutti's, openai-whisper's, whisperX's or the OpenAI API's JSON, - for standard input; a segment's "
      "speaker precedes its text, [SPEAKER_01]: as whisper-ctranslate2 writes it; or one model: a folder, a file, "
      "or a name that tutti models lists");
  table
      .add("output-dir", c.output_dir, "DIR",
           "where outputs are written, created when missing; of a model, the new folder, or the new file of "
           "openai-whisper or whisper.cpp")
      .letter = 'o';
  table.add_switch("quiet", c.quiet, "print nothing but errors, and which files were replaced").letter = 'q';
  table.group("Models");
  table
      .add("to", c.to, "FORMAT",
           "what the new model is: a folder of Hugging Face or of CTranslate2 (faster-whisper), or a file of "
           "openai-whisper or of whisper.cpp (ggml); default: openai for NAME.pt, ggml for NAME.bin, else hf")
      .choices = {"hf", "openai", "ctranslate2", "ggml"};
  table
      .add("type", c.type, "TYPE",
           "type of the new weights; int8 has one factor for each row of a matrix, q8_0, of ggml alone, one for 32 "
           "values")
      .choices = {"float32", "float16", "bfloat16", "int8", "q8_0"};
  table.group("Transcripts");
  Option& format =
      table.add("output-format", c.output_format, "FORMAT", "txt, vtt, srt, tsv, json, rttm, or all of the first four");
  format.letter = 'f';
  format.choices = {"txt", "vtt", "srt", "tsv", "json", "rttm", "all"};
  table.add("name-by", c.name_by, "stem|path", "talks/monday.json becomes monday.srt, or talks/monday.json.srt")
      .choices = {"stem", "path"};
  add_subtitle_flags(table, c.subtitles, "needs word times in the transcript");
  add_spelling(table, c.replace, c.paragraphs);
}

void warn_of_flags_for_the_other(const ConvertCommand& c, bool model) {
  const ConvertCommand usual;
  const auto warn = [&](const std::string& flag) {
    log(Level::warning, flag + " has no effect on " + (model ? "a model" : "transcripts"));
  };
  if (!model && c.to != usual.to) warn("--to");
  if (!model && c.type != usual.type) warn("--type");
  if (!model) return;
  if (c.output_format != usual.output_format) warn("--output-format");
  if (c.name_by != usual.name_by) warn("--name-by");
  if (const auto flag = first_subtitle_flag(c.subtitles); !flag.empty()) warn(flag);
  if (!c.replace.empty()) warn("--replace");
  if (c.paragraphs) warn("--paragraphs");
}

/// Has the engine write the model as a new folder or file; its output and errors are ours. Returns the exit code.
int convert_one_model(const ConvertCommand& command) {
  if (command.files.size() > 1)
    return complain({Fault::usage, command.files[0] + " is a model, and so there can be no other file",
                     "Convert one model at a time"},
                    kUsage);
  if (command.output_dir == ".")
    return complain({Fault::usage, "the new model of " + command.files[0] + " has no name",
                     "Name it with -o FOLDER, -o NAME.pt for openai-whisper, or -o NAME.bin for whisper.cpp"},
                    kUsage);
  const auto model = find_named_model(command.files[0]);
  if (!model) return complain(model.error());
  std::vector<std::string> line{"convert", "--model",   model->string(), "--into", command.output_dir.string(),
                                "--type",  command.type};
  if (!command.quiet) line.emplace_back("--print");
  if (!command.to.empty()) line.insert(line.end(), {"--to", command.to});
  return run_engine(line, "it converted " + model->string() + "; nothing was written");
}

int convert_transcripts(const ConvertCommand& command) {
  OutputOptions output{.folder = command.output_dir,
                       .name_by = command.name_by == "path" ? NameBy::path : NameBy::stem};
  // "all" leaves the source itself alone.
  if (command.output_format == "all")
    output.formats = {Format::txt, Format::vtt, Format::srt, Format::tsv};
  else
    output.formats = parse_formats(command.output_format).value();
  const auto plan = plan_outputs(command.files, output);
  if (!plan) return complain(plan.error(), kUsage);
  if (const auto apart = expect_none_read(*plan, std::span(&command.replace, 1)); !apart)
    return complain(apart.error(), kUsage);
  auto options = writer_options(command.subtitles);
  if (!options) return complain(options.error(), kUsage);
  warn_without_subtitles(command.subtitles, command.output_format);
  if (const auto set = set_paragraphs(command.paragraphs, command.output_format, *options); !set)
    return complain(set.error(), kUsage);
  auto replacements = replacement_list(command.replace);
  if (!replacements) return complain(replacements.error());
  const ConvertTarget target{output.formats, *options, std::move(*replacements),
                             first_subtitle_flag(command.subtitles)};
  const OutputOwnership files = ownership_of(*plan);
  std::size_t failed = 0;
  std::size_t replacements_made = 0;
  std::vector<std::filesystem::path> replaced;
  for (const auto& file : *plan) {
    ConvertedTranscript done;
    const auto converted = convert_transcript(file, target, files, done);
    replacements_made += done.replacements;
    replaced.insert(replaced.end(), done.replaced.begin(), done.replaced.end());
    if (!command.quiet)
      for (const auto& written : done.outputs) std::puts(without_controls(written.string()).c_str());
    if (converted) continue;
    ++failed;
    log(Level::error, failure_line(file.input, converted.error()));
  }
  if (!command.quiet && !command.replace.empty())
    std::fprintf(stderr, "Replaced by --replace: %zu %s\n", replacements_made,
                 replacements_made == 1 ? "text" : "texts");
  if (!replaced.empty()) std::fputs((replaced_text(replaced) + "\n").c_str(), stderr);
  return failed == 0 ? kDone : kSomeFailed;
}

}  // namespace

int run_convert(const std::vector<std::string>& arguments) {
  ConvertCommand command;
  OptionTable table("convert",
                    "Write transcripts that exist as JSON in other formats; no model is needed. Or write a model, of "
                    "Hugging Face, OpenAI, faster-whisper or whisper.cpp, for another of these programs.");
  add_convert(table, command);
  table.examples({"tutti convert out/talk.json -f vtt -o out", "tutti convert tiny.en -o tiny.en.pt",
                  "tutti convert trained/model --to ctranslate2 -o trained-ct2",
                  "tutti convert tiny.en --to ggml --type q8_0 -o ggml-tiny.en-q8_0.bin"});
  if (const auto code = start_command(table, arguments)) return *code;
  const bool model = names_model(command);
  if (command.quiet) log_from(Level::error);
  warn_of_flags_for_the_other(command, model);
  return model ? convert_one_model(command) : convert_transcripts(command);
}

}  // namespace tutti
