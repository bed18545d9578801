#include <algorithm>
#include <cctype>

#include "settings/pages/command_pages.h"

namespace tutti {
namespace {

/// Text of a page: backslashes, hyphens that are typed, and a first character that would be a request.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else
      out += c;
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string name_of_page(const std::string& command) {
  std::string name = command.empty() ? "tutti" : "tutti-" + command;
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string head_of(const std::string& command, const std::string& version, const std::string& summary) {
  std::string title = name_of_page(command);
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return ".TH " + title + " 1 \"\" \"Tutti " + version + "\" \"User Commands\"\n.SH NAME\n" +
         roff(name_of_page(command)) + " \\- " + roff(summary) + "\n";
}

std::string option_of(const HelpOption& option) {
  std::string out = ".TP\n";
  if (option.short_flag) out += std::string("\\fB\\-") + option.short_flag + "\\fR, ";
  out += "\\fB\\-\\-" + roff(option.name) + "\\fR";
  if (!option.value.empty()) out += " \\fI" + roff(option.value) + "\\fR";
  return out + "\n" + roff(option.meaning) + "\n";
}

std::string page_of(const HelpPage& page, const std::string& version, const std::string& summary,
                    const std::vector<std::string>& others) {
  std::string out = head_of(page.command, version, summary) + ".SH SYNOPSIS\n\\fBtutti " + roff(page.command) +
                    "\\fR [\\fIOPTION\\fR]...";
  if (!page.positional.empty()) out += " \\fI" + roff(page.positional) + "\\fR";
  out += "\n.SH DESCRIPTION\n" + roff(page.summary) + "\n";
  if (!page.positional.empty())
    out += ".TP\n\\fI" + roff(page.positional) + "\\fR\n" + roff(page.positional_meaning) + "\n";
  out += ".SH OPTIONS\n";
  for (const auto& group : page.groups) {
    if (group.heading != "Options") out += ".SS " + roff(group.heading) + "\n";
    for (const auto& option : group.options) out += option_of(option);
  }
  out += option_of({.name = "help", .short_flag = 'h', .meaning = "The help of this command."});
  out += option_of({.name = "show-config", .meaning = "Every setting, its value, and where it came from."});
  if (!page.examples.empty()) out += ".SH EXAMPLES\n.nf\n";
  for (const auto& example : page.examples) out += roff(example) + "\n";
  if (!page.examples.empty()) out += ".fi\n";
  if (!page.example_of_sources.empty())
    out +=
        ".SH ENVIRONMENT\nEvery flag has a variable: TUTTI_ before its name in capitals, with underscores. A flag "
        "wins over its variable, a variable over the settings file, the file over the default in brackets.\n"
        ".SH FILES\n.TP\n\\fI~/.config/tutti/config.toml\\fR\nThe settings file; this command's section is [" +
        roff(page.command) + "].\n";
  out += ".SH SEE ALSO\n\\fBtutti\\fR(1)";
  for (const auto& other : others) out += ", \\fB" + roff(name_of_page(other)) + "\\fR(1)";
  return out + "\n";
}

std::string main_page(const std::vector<CommandPages>& commands, const std::string& version) {
  std::string out = head_of("", version, "speech to text on every device, training and profiling") +
                    ".SH SYNOPSIS\n\\fBtutti\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n"
                    ".SH DESCRIPTION\nTutti keeps every GPU busy on speech work, and shows where the time goes when it "
                    "cannot. It starts \\fBtutti\\-engine\\fR(1), which computes.\n.SH COMMANDS\n";
  for (const auto& command : commands)
    out += ".TP\n\\fB" + roff(name_of_page(command.name)) + "\\fR(1)\n" + roff(command.summary) + "\n";
  return out +
         ".SH OPTIONS\n.TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nThe commands.\n"
         ".TP\n\\fB\\-\\-version\\fR\nVersion, commit and build of both programs.\n"
         ".SH EXIT STATUS\n"
         ".TP\n0\nAll was done.\n.TP\n2\nThe command line is not valid.\n.TP\n3\nSome file failed.\n"
         ".TP\n4\nNothing could run.\n.TP\n5\nA prediction did not hold (profile \\-\\-prove).\n"
         ".TP\n130\nIt was interrupted.\n"
         ".SH SEE ALSO\n\\fBtutti\\-engine\\fR(1)\n";
}

std::string engine_page(const std::string& version) {
  return head_of("engine", version, "the process of tutti that computes") +
         ".SH SYNOPSIS\n\\fBtutti\\-engine\\fR \\fB\\-\\-version\\fR | \\fB\\-\\-help\\fR\n"
         ".SH DESCRIPTION\nThe engine runs models for \\fBtutti\\fR(1), which starts one for each device and stops it "
         "by "
         "itself. Its other arguments are for programs and change with every version.\n"
         ".SH SEE ALSO\n\\fBtutti\\fR(1)\n";
}

}  // namespace

std::string man_file_of(const std::string& command) {
  return name_of_page(command) + ".1";
}

std::map<std::string, std::string> man_pages(const std::vector<CommandPages>& commands, const std::string& version) {
  std::map<std::string, std::string> pages{{man_file_of(""), main_page(commands, version)},
                                           {man_file_of("engine"), engine_page(version)}};
  for (const auto& command : commands) {
    std::vector<std::string> forms;
    for (const auto& form : command.forms) {
      forms.push_back(form.command);
      pages[man_file_of(form.command)] = page_of(form, version, command.summary, {command.name});
    }
    pages[man_file_of(command.name)] = page_of(command.page, version, command.summary, forms);
  }
  return pages;
}

}  // namespace tutti
