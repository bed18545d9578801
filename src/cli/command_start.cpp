#include "cli/command_start.h"

#include <cstdio>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/settings/setting_sources.h"

namespace tutti {

int complain(const Error& error, int exit_code) {
  log(Level::error, error.text());
  return exit_code;
}

std::optional<int> start_command(OptionTable& table, const std::vector<std::string>& arguments) {
  const auto sources = setting_sources(table.command());
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
