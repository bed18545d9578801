#pragma once

#include <string>
#include <vector>

namespace tutti {

/// A setting of a command as its help shows it.
struct HelpOption {
  std::string name{};                  // "output-dir"
  char short_flag = 0;                 // 'o' for -o; 0: none
  std::string value{};                 // the value's name, "DIR"; empty: a switch
  std::string meaning{};               // with its choices and its default
  std::vector<std::string> choices{};  // the only values taken; empty: others are, too
};

/// Settings under one heading, in the order of the help.
struct HelpGroup {
  std::string heading{};
  std::vector<HelpOption> options{};
};

/// What the help of a command has: `tutti COMMAND --help`, its manual page and the shells' completions are made of it.
struct HelpPage {
  std::string command{};             // "train whisper"
  std::string summary{};             // what the command does
  std::string positional{};          // "FILE..."; empty: it takes flags alone
  std::string positional_meaning{};  // what they are
  std::vector<HelpGroup> groups{};
  std::vector<std::string> examples{};  // command lines, from "tutti" on
  std::string example_of_sources{};     // a setting with a value, to name its variable; empty: flags alone are read
};

/// As `tutti COMMAND --help` prints it.
std::string help_text(const HelpPage& page);

}  // namespace tutti
