// `tutti completion` and `tutti man`.

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/build_id.h"
#include "base/environment.h"
#include "base/files.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "settings/pages/command_pages.h"

namespace tutti {
namespace {

/// A default in this user's home is another one for others.
void shorten_home(std::string& text, const std::string& home) {
  for (auto at = text.find(home); !home.empty() && at != text.npos; at = text.find(home))
    text.replace(at, home.size(), "~/");
}

HelpPage page_of(const Command& command, const std::vector<std::string>& arguments) {
  HelpPage page = help_page_of([&] { return command.run(arguments); });
  const std::string home = variable("HOME").value_or("");
  for (auto& group : page.groups)
    for (auto& option : group.options) shorten_home(option.meaning, home.empty() ? "" : home + "/");
  return page;
}

/// Every command of the table, in the order of the help. They run with --help, one after the other, on this thread.
std::vector<CommandPages> command_pages() {
  std::vector<CommandPages> all;
  for (const auto& command : commands()) {
    CommandPages pages{
        .name = command.name, .summary = command.summary, .page = page_of(command, {"--help"}), .words = command.words};
    for (const auto& word : command.words)
      if (auto form = page_of(command, {word, "--help"}); form.command == command.name + " " + word)
        pages.forms.push_back(std::move(form));
    pages.page.command = command.name;  // where it is that of a usual form, as of `tutti train`
    all.push_back(std::move(pages));
  }
  return all;
}

/// "0.1.0" of the build id.
std::string version() {
  const std::string id(build_id());
  return id.substr(0, id.find(' '));
}

/// Writes every page. Fault::refused and others as write_file_atomically has them.
Result<void> write_pages(const std::map<std::string, std::string>& pages, const std::filesystem::path& folder) {
  for (const auto& [name, text] : pages)
    if (auto written = write_file_atomically(folder / name, text); !written) return written;
  return {};
}

}  // namespace

int run_completion(const std::vector<std::string>& arguments) {
  std::vector<std::string> words;
  OptionTable table("completion",
                    "Print a script that has a shell complete commands, flags and their values. Packages install all "
                    "three.");
  table.positional(words, "bash|zsh|fish", "the shell");
  table.reads_flags_alone();
  table.examples({"source <(tutti completion bash)", "tutti completion zsh > ~/.zfunc/_tutti",
                  "tutti completion fish > ~/.config/fish/completions/tutti.fish"});
  if (const auto code = start_command(table, arguments)) return *code;
  const std::string& shell = words.front();
  if (words.size() > 1 || (shell != "bash" && shell != "zsh" && shell != "fish"))
    return complain({Fault::usage, "expected bash, zsh or fish, found '" + joined(words, " ") + "'"}, kUsage);
  const auto pages = command_pages();
  const std::string script = shell == "bash"  ? bash_completion(pages)
                             : shell == "zsh" ? zsh_completion(pages)
                                              : fish_completion(pages);
  std::fputs(script.c_str(), stdout);
  return kDone;
}

int run_man(const std::vector<std::string>& arguments) {
  std::vector<std::string> words;
  std::filesystem::path folder;
  OptionTable table("man", "Print a manual page, for 'man -l -', or write all of them.");
  table.positional(words, "COMMAND", "of which command: 'batch', 'train whisper'; without it, of tutti itself", 0);
  table.add("output-dir", folder, "DIR", "the folder that all pages are written to, created when missing").letter = 'o';
  table.reads_flags_alone();
  table.examples({"tutti man transcribe | man -l -", "tutti man -o ~/.local/share/man/man1"});
  if (const auto code = start_command(table, arguments)) return *code;
  const auto pages = man_pages(command_pages(), version());
  if (!folder.empty()) {
    if (!words.empty()) return complain({Fault::usage, "--output-dir writes all pages, and takes no command"}, kUsage);
    const auto written = write_pages(pages, folder);
    return written ? static_cast<int>(kDone) : complain(written.error());
  }
  const std::string command = joined(words, " ");
  const auto page = pages.find(man_file_of(command));
  if (page == pages.end()) {
    const std::string nearest = nearest_name(command, command_names());
    return complain({Fault::usage, "'" + command + "': no such command",
                     nearest.empty() ? "See 'tutti --help'" : "Did you mean 'tutti man " + nearest + "'?"},
                    kUsage);
  }
  std::fputs(page->second.c_str(), stdout);
  return kDone;
}

}  // namespace tutti
