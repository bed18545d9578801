#include "cli/command_start.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string_view>

#include "base/guarded.h"
#include "base/log.h"
#include "base/process/exit_code.h"
#include "base/process/shell_command.h"
#include "cli/commands.h"
#include "jobs/store_url.h"
#include "settings/setting_sources.h"

namespace tutti {
namespace {

/// As OptionTable::given_elsewhere has them, of the command that this process runs.
Guarded<std::vector<std::pair<std::string, std::string>>>& given_elsewhere() {
  static Guarded<std::vector<std::pair<std::string, std::string>>> names;
  return names;
}

/// Where this thread's help goes instead of standard output; null: it is printed.
HelpPage*& taken_page() {
  static thread_local HelpPage* page = nullptr;
  return page;
}

bool goes_on(const std::string& text, std::size_t at) {
  return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '-');
}

/// Checks name flags. Where no flag gave the value, the text names its source instead.
std::string with_sources(std::string text) {
  given_elsewhere().with([&](const auto& names) {
    for (const auto& [flag, source] : names)
      for (std::size_t at = text.find(flag); at != text.npos; at = text.find(flag, at)) {
        const bool whole = !goes_on(text, at + flag.size()) && (at == 0 || !goes_on(text, at - 1));
        if (whole) text.replace(at, flag.size(), source);
        at += whole ? source.size() : flag.size();
      }
  });
  return text;
}

}  // namespace

std::string command_line(const std::string& command, const std::vector<std::string>& arguments) {
  constexpr std::size_t kLongest = 4000;  // a shell's * may have been a hundred thousand files
  std::string line = command;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (line.size() > kLongest) return line + " … (" + std::to_string(arguments.size() - i) + " more)";
    line += " " + shell_word(without_password(arguments[i]));  // it is kept, and shown
  }
  return line;
}

int complain(const Error& error, int exit_code) {
  log(Level::error, Error{error.fault, with_sources(error.what), error.hint}.text());
  return exit_code;
}

int complain(const Error& error) {
  return complain(error, error.fault == Fault::usage ? kUsage : kNothingRan);
}

int complain(const Error& error, const StopSignal& stop) {
  return stop.raised() ? complain(error, kInterrupted) : complain(error);
}

int show_help(const HelpPage& page) {
  if (HelpPage* taken = taken_page())
    *taken = page;
  else
    std::fputs(help_text(page).c_str(), stdout);
  return kDone;
}

HelpPage help_page_of(const std::function<int()>& run) {
  HelpPage page;
  taken_page() = &page;
  run();
  taken_page() = nullptr;
  return page;
}

std::optional<int> start_command(OptionTable& table, const std::vector<std::string>& arguments) {
  const auto sources =
      table.requests_help(arguments) ? Result<SettingSources>{} : setting_sources(table.command(), command_names());
  if (!sources) return complain(sources.error(), kUsage);
  const auto action = table.read(arguments, *sources);
  given_elsewhere().change([&](auto& names) { names = table.given_elsewhere(); });
  if (!action) return complain(action.error(), kUsage);
  switch (*action) {
    case OptionTable::Action::run: return std::nullopt;
    case OptionTable::Action::help: return show_help(table.page());
    case OptionTable::Action::show_config: std::fputs(table.show_config().c_str(), stdout); return kDone;
  }
  return std::nullopt;
}

}  // namespace tutti
