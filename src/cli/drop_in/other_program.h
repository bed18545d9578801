#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "settings/help_page.h"

namespace tutti {

/// An option of another program. Each takes one value.
struct OtherOption {
  std::string name;       // "output_dir"
  char short_flag = 0;    // 'o' for -o; 0: none
  std::string becomes{};  // the flag of `tutti transcribe`; empty: it has none
  std::string usual{};    // where it has none, the value that requests what Tutti does anyway
  std::string answer{};   // and what replaces another value
};

/// A command line that people type already, for `tutti transcribe`.
struct OtherProgram {
  std::string name;                  // "whisper"
  std::string version;               // whose --help the options are of
  std::vector<std::string> usual{};  // words that stand for its defaults, where they are not ours
  std::vector<OtherOption> options{};
  int code_without_files = 2;  // exit codes: no file was named,
  int code_nothing_ran = 1;    // and nothing could run; a file that failed is 0 with both
};

/// "whisper" of openai-whisper, and "whisper-ctranslate2".
const std::vector<OtherProgram>& other_programs();

/// Its command line in the words of `tutti transcribe`. As argparse does, takes --name=value and the beginning of a
/// name that only one name has. Fault::usage names the option, and what replaces it.
Result<std::vector<std::string>> in_our_words(const OtherProgram& program, const std::vector<std::string>& arguments);

/// What the other program would have ended with, by what `tutti transcribe` did.
int exit_code_of(const OtherProgram& program, int code);

/// Every option and what becomes of it.
HelpPage help_of(const OtherProgram& program);

}  // namespace tutti
