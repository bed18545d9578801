#include "base/strings.h"
#include "settings/pages/command_pages.h"

namespace tutti {
namespace {

/// Data first, in functions of their own; then what reads the line. bash makes three words of --flag=value.
constexpr const char* kReader = R"(
_tutti() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} kind
  local words="" form="$command ${COMP_WORDS[2]-}"
  COMPREPLY=()
  if [[ $current == = ]]; then
    current=""
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$(_tutti_commands) help --help --version" -- "$current")
    return
  fi
  if ((COMP_CWORD == 2)); then words=$(_tutti_words "$command"); fi
  [[ -n $(_tutti_flags "$form") ]] || form=$command
  kind=word
  if [[ $before == -* ]]; then
    kind=$(_tutti_value "$form" "$before")
    if [[ -n $kind ]]; then
      words=${kind#* }
      kind=${kind%% *}
    elif [[ $current != -* ]]; then
      kind=file
    fi
  elif [[ $current != -* && -z $words ]]; then
    kind=file
  fi
  if [[ $current == -* ]]; then words=$(_tutti_flags "$form"); fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  if [[ $kind == file && $current != -* ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current")
  elif [[ $kind == folder && $current != -* ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$current")
  fi
}
complete -F _tutti tutti
)";

std::string case_of(const std::string& pattern, const std::string& answer) {
  return "    " + pattern + ") echo \"" + answer + "\" ;;\n";
}

std::string function_of(const std::string& name, const std::string& subject, const std::string& cases) {
  return "_tutti_" + name + "() {\n  case \"" + subject + "\" in\n" + cases + "  esac\n}\n";
}

/// "--output-dir -o"
std::string flags_of(const HelpPage& page) {
  std::string all = "--help --show-config";
  for (const auto& group : page.groups)
    for (const auto& option : group.options) {
      all += " --" + option.name;
      if (option.short_flag) all += std::string(" -") + option.short_flag;
    }
  return all;
}

/// A line for every flag that takes a value: the kind of value, and its words.
std::string values_of(const HelpPage& page) {
  std::string cases;
  for (const auto& group : page.groups)
    for (const auto& option : group.options) {
      if (option.value.empty()) continue;
      const ValueKind kind = option.choices.empty() ? kind_of_value(option.value) : ValueKind::word;
      const std::string answer = kind == ValueKind::file ? "file" : kind == ValueKind::folder ? "folder" : "word";
      std::string pattern = "\"" + page.command + " --" + option.name + "\"";
      if (option.short_flag) pattern += " | \"" + page.command + " -" + option.short_flag + "\"";
      cases += case_of(pattern, answer + " " + joined(words_of_value(option), " "));
    }
  return cases;
}

}  // namespace

std::string bash_completion(const std::vector<CommandPages>& commands) {
  std::string words, flags, values;
  for (const auto& command : commands) {
    if (!command.words.empty()) words += case_of(command.name, joined(command.words, " "));
    std::vector<HelpPage> pages = command.forms;
    pages.push_back(command.page);
    for (const auto& page : pages) {
      flags += case_of("\"" + page.command + "\"", flags_of(page));
      values += values_of(page);
    }
  }
  words += case_of("help | man", joined(names_of(commands), " "));
  return "# Completion of tutti for bash, made by 'tutti completion bash'.\n_tutti_commands() { echo \"" +
         joined(names_of(commands), " ") + "\"; }\n" + function_of("words", "$1", words) +
         function_of("flags", "$1", flags) + function_of("value", "$1 $2", values) + kReader;
}

}  // namespace tutti
