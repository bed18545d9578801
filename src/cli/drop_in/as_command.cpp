// `tutti as whisper ...`: the command lines of other programs.

#include <algorithm>
#include <string>
#include <vector>

#include "base/process/exit_code.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/drop_in/other_program.h"
#include "cli/transcribe_command.h"

namespace tutti {

int run_as(const std::vector<std::string>& arguments) {
  const auto& programs = other_programs();
  const auto program =
      arguments.empty() ? programs.end() : std::ranges::find(programs, arguments[0], &OtherProgram::name);
  if (program == programs.end()) {
    std::vector<std::string> words;
    OptionTable table(
        "as",
        "Transcribe by the command line of openai-whisper or whisper-ctranslate2: their options, defaults "
        "and exit codes. 'tutti as PROGRAM --help' lists what becomes of each option.");
    table.positional(words, "whisper|whisper-ctranslate2", "the program, and its arguments");
    table.reads_flags_alone();
    table.examples({"tutti as whisper talk.mp3 --model tiny.en --output_format srt",
                    "tutti as whisper-ctranslate2 talk.mp3 --model tiny.en --vad_filter True",
                    "alias whisper='tutti as whisper'"});
    if (const auto code = start_command(table, arguments)) return *code;
    return complain({Fault::usage, "expected whisper or whisper-ctranslate2, found '" + words[0] + "'"}, kUsage);
  }
  std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (!rest.empty() && (rest[0] == "--help" || rest[0] == "-h")) return show_help(help_of(*program));
  const bool shows_config = std::erase(rest, "--show-config") > 0;
  if (rest == std::vector<std::string>{"--version"}) return print_versions();
  auto words = in_our_words(*program, rest);
  if (!words) return complain(words.error(), kUsage);
  if (shows_config) words->insert(words->begin(), "--show-config");
  if (words->back() == "--" && !shows_config)
    return complain({Fault::usage, "expected FILE..., found nothing", "See 'tutti as " + program->name + " --help'"},
                    program->code_without_files);
  return exit_code_of(*program, run_transcribe(*words));
}

}  // namespace tutti
