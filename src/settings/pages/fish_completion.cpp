#include "base/strings.h"
#include "settings/pages/command_pages.h"

namespace tutti {
namespace {

/// In single quotes of fish, which knows two escapes in them.
std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

/// Whether the line is of this page: "train whisper", or of the command and of none of its forms.
std::string condition_of(const HelpPage& page, const std::vector<HelpPage>& forms) {
  std::string words;
  for (const auto& form : forms) words += " " + form.command.substr(form.command.find(' ') + 1);
  const auto space = page.command.find(' ');
  std::string condition = "__fish_seen_subcommand_from " + page.command.substr(0, space);
  if (space != std::string::npos)
    condition += "; and __fish_seen_subcommand_from " + page.command.substr(space + 1);
  else if (!words.empty())
    condition += "; and not __fish_seen_subcommand_from" + words;
  return fish_quoted(condition);
}

std::string line_of(const HelpOption& option, const std::string& condition) {
  std::string line = "complete -c tutti -n " + condition;
  if (option.short_flag) line += std::string(" -s ") + option.short_flag;
  line += " -l " + option.name;
  const auto words = words_of_value(option);
  const ValueKind kind = option.choices.empty() ? kind_of_value(option.value) : ValueKind::word;
  if (!option.value.empty()) line += kind == ValueKind::word ? " -x" : " -r";
  if (kind == ValueKind::folder)
    line += " -a '(__fish_complete_directories)'";
  else if (!words.empty() && !option.value.empty())
    line += " -a " + fish_quoted(joined(words, " "));
  return line + " -d " + fish_quoted(first_remark(option.meaning)) + "\n";
}

std::string lines_of(const HelpPage& page, const std::string& condition) {
  std::string out = "complete -c tutti -n " + condition + " -s h -l help -d 'help of this command'\n" +
                    "complete -c tutti -n " + condition + " -l show-config -d 'every setting and its value'\n";
  for (const auto& group : page.groups)
    for (const auto& option : group.options) out += line_of(option, condition);
  return out;
}

}  // namespace

std::string fish_completion(const std::vector<CommandPages>& commands) {
  const std::string names = joined(names_of(commands), " ");
  std::string out =
      "# Completion of tutti for fish, made by 'tutti completion fish'.\n"
      "complete -c tutti -n __fish_use_subcommand -l help -d 'the commands'\n"
      "complete -c tutti -n __fish_use_subcommand -l version -d 'the version of both programs'\n"
      "complete -c tutti -n '__fish_seen_subcommand_from help man' -f -a " +
      fish_quoted(names) + "\n";
  for (const auto& command : commands) {
    out += "complete -c tutti -n __fish_use_subcommand -f -a " + command.name + " -d " + fish_quoted(command.summary) +
           "\n";
    const std::string here = "__fish_seen_subcommand_from " + command.name;
    if (!command.words.empty())
      out += "complete -c tutti -n " +
             fish_quoted(here + "; and not __fish_seen_subcommand_from " + joined(command.words, " ")) + " -f -a " +
             fish_quoted(joined(command.words, " ")) + "\n";
    out += lines_of(command.page, condition_of(command.page, command.forms));
    for (const auto& form : command.forms) out += lines_of(form, condition_of(form, command.forms));
  }
  return out;
}

}  // namespace tutti
