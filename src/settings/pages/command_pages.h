#pragma once

#include <map>
#include <string>
#include <vector>

#include "settings/help_page.h"

namespace tutti {

/// A command of the table as completions and manual pages need it.
struct CommandPages {
  std::string name{};                // "train"
  std::string summary{};             // its line in `tutti --help`
  HelpPage page{};                   // `tutti NAME --help`
  std::vector<std::string> words{};  // what may stand first behind the name
  std::vector<HelpPage> forms{};     // of those of the words that have a help of their own: "train tts"
};

/// What `tutti man`, `tutti help` and the like take: the names of the commands.
std::vector<std::string> names_of(const std::vector<CommandPages>& commands);

/// The words that a value's name offers: its choices, else of "auto|cpu|cuda:N" auto and cpu, of "DIR" none.
std::vector<std::string> words_of_value(const HelpOption& option);

/// What else may stand for a value.
enum class ValueKind { word, file, folder };

/// What the name of a value indicates: "FILE.html", "DIR|NAME", "N".
ValueKind kind_of_value(const std::string& value);

/// `text` up to the end of its first sentence or remark, in at most 80 bytes: beside a flag there is no more space.
std::string first_remark(const std::string& text);

// Scripts that complete commands, their flags, and the words and files that these take. `commands` is never empty.

/// For bash 4.2 and later; needs nothing of the package bash-completion.
std::string bash_completion(const std::vector<CommandPages>& commands);

/// For zsh: the function _tutti, to be found in $fpath.
std::string zsh_completion(const std::vector<CommandPages>& commands);

/// For fish 3.
std::string fish_completion(const std::vector<CommandPages>& commands);

/// Manual pages of section 1 in the macros of man(7), by the names of their files: tutti.1, tutti-engine.1,
/// tutti-batch.1, tutti-train-whisper.1, ... `version`: "0.1.0".
std::map<std::string, std::string> man_pages(const std::vector<CommandPages>& commands, const std::string& version);

/// The file of the page of "train whisper": "tutti-train-whisper.1". "": "tutti.1".
std::string man_file_of(const std::string& command);

}  // namespace tutti
