#include "cli/drop_in/other_program.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include "base/process/exit_code.h"
#include "base/try.h"

namespace tutti {
namespace {

/// The flag of the same name: output_dir is --output-dir.
OtherOption same(std::string name, char short_flag = 0) {
  std::string flag = name;
  std::ranges::replace(flag, '_', '-');
  return {.name = std::move(name), .short_flag = short_flag, .becomes = std::move(flag)};
}

/// Those that both programs have, and Tutti too.
std::vector<OtherOption> common_options() {
  std::vector<OtherOption> all{same("output_dir", 'o'), same("output_format", 'f')};
  for (const char* name : {"model",
                           "model_dir",
                           "verbose",
                           "task",
                           "language",
                           "temperature",
                           "best_of",
                           "beam_size",
                           "patience",
                           "length_penalty",
                           "suppress_tokens",
                           "initial_prompt",
                           "condition_on_previous_text",
                           "temperature_increment_on_fallback",
                           "compression_ratio_threshold",
                           "logprob_threshold",
                           "no_speech_threshold",
                           "word_timestamps",
                           "prepend_punctuations",
                           "append_punctuations",
                           "highlight_words",
                           "max_line_width",
                           "max_line_count",
                           "max_words_per_line",
                           "threads",
                           "hallucination_silence_threshold"})
    all.push_back(same(name));
  return all;
}

OtherProgram openai_whisper() {
  OtherProgram program{
      .name = "whisper", .version = "20250625", .usual = {"--model", "turbo"}, .options = common_options()};
  for (const char* name : {"device", "carry_initial_prompt", "fp16", "clip_timestamps"})
    program.options.push_back(same(name));
  return program;
}

OtherProgram whisper_ctranslate2() {
  constexpr int kRuntimeError = 100;
  OtherProgram program{.name = "whisper-ctranslate2",
                       .version = "0.5.8",
                       .usual = {"--model", "small", "--compute-type", "auto"},
                       .options = common_options(),
                       .code_without_files = 0,
                       .code_nothing_ran = kRuntimeError};
  auto& options = program.options;
  for (const char* name : {"prefix", "hotwords", "batched", "batch_size", "vad_threshold", "vad_min_speech_duration_ms",
                           "vad_max_speech_duration_s", "vad_min_silence_duration_ms"})
    options.push_back(same(name));
  options.push_back({.name = "vad_filter", .becomes = "vad"});
  // These are settled together, below.
  for (const char* name : {"model_directory", "device", "device_index", "compute_type", "hf_token", "speaker_num"})
    options.push_back({.name = name, .becomes = name});
  const auto answered = [&](std::string name, std::string usual, std::string answer, char short_flag = 0) {
    options.push_back(
        {.name = std::move(name), .short_flag = short_flag, .usual = std::move(usual), .answer = std::move(answer)});
  };
  options.push_back({.name = "local_files_only", .usual = "*"});  // nothing is fetched by a transcription
  answered("pretty_json", "False", "'python3 -m json.tool' formats the JSON", 'p');
  answered("print_colors", "False", "'tutti review' lists what to check by ear");
  answered("prompt_reset_on_temperature", "0.5", "the prompt is reset above 0.5, as openai-whisper does it");
  answered("suppress_blank", "True", "a window never begins with a blank");
  answered("repetition_penalty", "1.0", "a loop is decoded again: --compression_ratio_threshold");
  answered("no_repeat_ngram_size", "0", "a loop is decoded again: --compression_ratio_threshold");
  answered("multilingual", "False", "a file has one language; cut it where the language changes");
  answered("speaker_name", "SPEAKER", "'tutti review out/talk.json --names SPEAKER_00=Anna' names speakers");
  const std::string live = "'tutti listen mic' captions a microphone";
  answered("live_transcribe", "False", live);
  answered("live_volume_threshold", "0.2", live);
  answered("live_input_device", "None", live);
  answered("live_input_device_sample_rate", "16000", live);
  return program;
}

tl::unexpected<Error> refused(const OtherProgram& program, std::string what, std::string hint) {
  if (hint.empty()) hint = "See 'tutti as " + program.name + " --help'";
  hint[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(hint[0])));  // help has it behind a semicolon
  return fail(Fault::usage, std::move(what), std::move(hint));
}

/// By its whole name, or by a beginning that only one has.
Result<const OtherOption*> option_named(const OtherProgram& program, std::string name) {
  std::ranges::replace(name, '-', '_');
  std::vector<const OtherOption*> found;
  for (const auto& option : program.options) {
    if (option.name == name) return &option;
    if (option.name.starts_with(name)) found.push_back(&option);
  }
  if (found.size() == 1) return found.front();
  return refused(
      program,
      "--" + name + ": " + (found.empty() ? "no such option" : "several options begin so") + " of " + program.name, "");
}

struct Given {
  const OtherOption* option;
  std::string value;
};

/// Its options with their values, and the files.
Result<std::vector<Given>> parse(const OtherProgram& program, const std::vector<std::string>& arguments,
                                 std::vector<std::string>& files) {
  std::vector<Given> given;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string& word = arguments[at];
    if (word == "--") {
      files.insert(files.end(), arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1, arguments.end());
      break;
    }
    if (word.size() < 2 || word[0] != '-') {
      files.push_back(word);
      continue;
    }
    const OtherOption* option = nullptr;
    std::optional<std::string> value;
    if (word.starts_with("--")) {
      const auto equals = word.find('=');
      option = TRY(option_named(program, word.substr(2, equals == word.npos ? word.npos : equals - 2)));
      if (equals != word.npos) value = word.substr(equals + 1);
    } else {
      const auto found = std::ranges::find(program.options, word[1], &OtherOption::short_flag);
      if (found == program.options.end()) return refused(program, word + ": no such option of " + program.name, "");
      option = &*found;
      if (word.size() > 2) value = word.substr(2);
    }
    if (!value && at + 1 == arguments.size()) return refused(program, word + ": expected a value, found nothing", "");
    given.push_back({option, value ? *value : arguments[++at]});
  }
  return given;
}

/// "1.0" and "1" are one number, "true" is "True".
bool is_usual(const std::string& usual, const std::string& value) {
  if (usual == "*" || usual == value) return true;
  const auto lower = [](std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
  };
  return lower(usual) == lower(value);
}

/// What whisper-ctranslate2 has in two options and Tutti in one.
Result<std::vector<std::string>> settled(const OtherProgram& program, std::map<std::string, std::string>& values) {
  std::vector<std::string> words;
  const auto take = [&](const char* name) {
    const auto node = values.extract(name);
    return node.empty() || node.mapped() == "None" ? std::string() : node.mapped();
  };
  if (const auto folder = take("model_directory"); !folder.empty()) values["model"] = folder;
  const auto device = take("device"), index = take("device_index");
  const bool is_chosen = !index.empty() && index != "0" && device != "cpu";
  if (is_chosen || !device.empty()) words.insert(words.end(), {"--device", is_chosen ? "cuda:" + index : device});
  if (auto type = take("compute_type"); type == "int16") {
    return refused(program, "--compute_type int16: Tutti does not compute in it", "Take int8 or float32");
  } else if (!type.empty()) {
    words.insert(words.end(), {"--compute-type", type == "int8_float32" || type == "int8_bfloat16" ? "int8" : type});
  }
  const auto token = take("hf_token"), speakers = take("speaker_num");
  if (!token.empty())
    words.insert(words.end(), {"--diarize", "True", "--num-speakers", speakers.empty() ? "2" : speakers});
  return words;
}

}  // namespace

const std::vector<OtherProgram>& other_programs() {
  static const std::vector<OtherProgram> all{openai_whisper(), whisper_ctranslate2()};
  return all;
}

Result<std::vector<std::string>> in_our_words(const OtherProgram& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  const auto given = TRY(parse(program, arguments, files));
  std::map<std::string, std::string> values;  // the last one counts
  for (const auto& [option, value] : given) {
    if (!option->becomes.empty())
      values[option->becomes] = value;
    else if (!is_usual(option->usual, value))
      return refused(program, "--" + option->name + " " + value + ": Tutti has no such option", option->answer);
  }
  std::vector<std::string> words = program.usual;
  if (program.name != "whisper") {
    const auto together = settled(program, values);
    if (!together) return together;
    words.insert(words.end(), together->begin(), together->end());
  }
  for (const auto& [flag, value] : values) words.push_back("--" + flag + "=" + value);
  words.emplace_back("--");
  words.insert(words.end(), files.begin(), files.end());
  return words;
}

int exit_code_of(const OtherProgram& program, int code) {
  if (code == kSomeFailed) return kDone;
  return code == kNothingRan ? program.code_nothing_ran : code;
}

HelpPage help_of(const OtherProgram& program) {
  HelpPage page{.command = "as " + program.name,
                .summary = "Takes the options of " + program.name + " " + program.version +
                           " and runs 'tutti transcribe', with the other program's defaults and exit codes.",
                .positional = "FILE...",
                .positional_meaning = "audio, or video with an audio track",
                .groups = {{.heading = "Options"}}};
  for (const auto& option : program.options) {
    const std::string meaning = !option.becomes.empty() ? "works; 'tutti transcribe --help' explains it"
                                : option.usual == "*"   ? "has no effect: a transcription fetches nothing"
                                                        : option.usual + " alone; " + option.answer;
    page.groups[0].options.push_back(
        {.name = option.name, .short_flag = option.short_flag, .value = "VALUE", .meaning = meaning});
  }
  return page;
}

}  // namespace tutti
