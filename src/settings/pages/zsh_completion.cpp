#include "base/strings.h"
#include "settings/pages/command_pages.h"

namespace tutti {
namespace {

/// In single quotes of the shell.
std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// Within [...] and between colons of a specification.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string action_of(const HelpOption& option) {
  const auto words = words_of_value(option);
  const ValueKind kind = option.choices.empty() ? kind_of_value(option.value) : ValueKind::word;
  if (kind == ValueKind::file) return "_files";
  if (kind == ValueKind::folder) return "_files -/";
  return words.empty() ? " " : "(" + joined(words, " ") + ")";
}

/// '--output-dir=[where outputs are written]:DIR:_files -/', and the same for -o.
std::string specification(const HelpOption& option, const std::string& flag, const std::string& joint) {
  std::string text = flag + (option.value.empty() ? "" : joint) + "[" + escaped(first_remark(option.meaning)) + "]";
  if (!option.value.empty()) text += ":" + escaped(option.value) + ":" + action_of(option);
  return " \\\n      " + shell_quoted(text);
}

std::string arguments_of(const HelpPage& page, std::size_t words) {
  std::string out = "_arguments " + shell_quoted("--help[this command's help]") + " " +
                    shell_quoted("--show-config[every setting, its value, and where it came from]");
  for (const auto& group : page.groups)
    for (const auto& option : group.options) {
      if (option.short_flag) out += specification(option, std::string("-") + option.short_flag, "+");
      out += specification(option, "--" + option.name, "=");
    }
  for (std::size_t i = 0; i < words; ++i) out += " " + shell_quoted(std::to_string(i + 1) + ": :");
  if (!page.positional.empty()) out += " \\\n      " + shell_quoted("*:" + escaped(page.positional) + ":_files");
  return out;
}

std::string function_name(const HelpPage& page) {
  std::string name = "_tutti_" + page.command;
  for (char& c : name)
    if (c == ' ' || c == '-') c = '_';
  return name;
}

/// Chooses by the first word; without one that has a page of its own, the command's page.
std::string function_of(const CommandPages& command) {
  std::string out = function_name(command.page) + "() {\n";
  if (!command.words.empty())
    out += "  if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then\n    compadd " + joined(command.words, " ") +
           "\n    return\n  fi\n";
  if (!command.forms.empty()) {
    out += "  case $words[2] in\n";
    for (const auto& form : command.forms)
      out += "    " + form.command.substr(form.command.find(' ') + 1) + ") " + arguments_of(form, 1) + " ; return ;;\n";
    out += "  esac\n";
  }
  return out + "  " + arguments_of(command.page, command.words.empty() ? 0 : 1) + "\n}\n\n";
}

}  // namespace

std::string zsh_completion(const std::vector<CommandPages>& commands) {
  std::string out = "#compdef tutti\n# Completion of tutti for zsh, made by 'tutti completion zsh'.\n\n";
  for (const auto& command : commands) out += function_of(command);
  out += "_tutti() {\n  local -a commands=(\n";
  for (const auto& command : commands)
    out += "    " + shell_quoted(escaped(command.name) + ":" + escaped(command.summary)) + "\n";
  out +=
      "  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe command commands\n"
      "    compadd help -- --help --version\n"
      "    return\n"
      "  fi\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $words[1] in\n"
      "    help | man) ((CURRENT == 2)) && _describe command commands ;;\n"
      "    *) (($+functions[_tutti_$words[1]])) && _tutti_$words[1] ;;\n"
      "  esac\n"
      "}\n\n"
      "if [[ $funcstack[1] == _tutti ]]; then\n"
      "  _tutti \"$@\"\n"
      "else\n"
      "  compdef _tutti tutti\n"
      "fi\n";
  return out;
}

}  // namespace tutti
