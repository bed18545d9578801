#include "cli/command_start.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string_view>

#include "base/log.h"
#include "base/process/exit_code.h"
#include "cli/settings/setting_sources.h"

namespace tutti {
namespace {

/// In quotes where a shell would not leave it as it is.
std::string shell_word(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c >= 0x80 ||
           std::string_view("_@%+=:,./-").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string command_line(const std::string& command, const std::vector<std::string>& arguments) {
  constexpr std::size_t kLongest = 4000;  // a shell's * may have been a hundred thousand files
  std::string line = command;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (line.size() > kLongest) return line + " … (" + std::to_string(arguments.size() - i) + " more)";
    line += " " + shell_word(arguments[i]);
  }
  return line;
}

int complain(const Error& error, int exit_code) {
  log(Level::error, error.text());
  return exit_code;
}

int complain(const Error& error) {
  return complain(error, error.fault == Fault::usage ? kUsage : kNothingRan);
}

int complain(const Error& error, const Interrupt& interrupt) {
  return interrupt.raised() ? complain(error, kInterrupted) : complain(error);
}

std::optional<int> start_command(OptionTable& table, const std::vector<std::string>& arguments) {
  const auto sources = table.asks_for_help(arguments) ? Result<SettingSources>{} : setting_sources(table.command());
  if (!sources) return complain(sources.error(), kUsage);
  const auto wish = table.read(arguments, *sources);
  if (!wish) return complain(wish.error(), kUsage);
  switch (*wish) {
    case OptionTable::Wish::run: return std::nullopt;
    case OptionTable::Wish::help: std::fputs(table.help().c_str(), stdout); return kDone;
    case OptionTable::Wish::show_config: std::fputs(table.show_config().c_str(), stdout); return kDone;
  }
  return std::nullopt;
}

}  // namespace tutti
