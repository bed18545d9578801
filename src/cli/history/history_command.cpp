#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/output_ownership.h"
#include "base/process/exit_code.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/named_model.h"
#include "serve/dashboard/history_text.h"
#include "view/markup.h"
#include "view/terminal_text.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

struct HistoryCommand {
  fs::path state{};
  std::string store{};
  std::int32_t last = 20;
  std::optional<std::int32_t> run{};
  fs::path svg{};
  bool json = false;
};

/// As wide as the terminal; unlimited in a pipe.
std::size_t output_width() {
  return ::isatty(STDOUT_FILENO) ? screen_of(STDOUT_FILENO).columns : 1000;
}

}  // namespace

int run_history(const std::vector<std::string>& arguments) {
  HistoryCommand command{.state = state_folder()};
  OptionTable table("history",
                    "What past runs of 'tutti batch' did: runs, the devices in them, their speeds over time, and what "
                    "happened to them.");
  table.add("state", command.state, "DIR", "the folder of the store");
  add_store(table, command.store);
  table.add("last", command.last, "N", "how many runs to look back");
  table.add("run", command.run, "N|None", "only this run, with all events of its devices");
  table.add("svg", command.svg, "FILE", "draw the speeds over time there, too, replacing an earlier picture only");
  table.add_switch("json", command.json, "print one JSON object with everything, units in the names");
  table.examples({"tutti history", "tutti history --last 5 --svg speeds.svg"});
  if (const auto code = start_command(table, arguments)) return *code;
  if (command.last < 1) return complain({Fault::usage, "--last: expected at least 1"}, kUsage);
  const auto named = store_named(command.state, command.store);
  if (!named) return complain(named.error(), kUsage);
  const StoreUrl& url = named->store;

  OutputOwnership files("Name another file with --svg");
  for (const auto& file : files_of_store(url)) files.add_input(file);
  if (!command.svg.empty())
    if (const auto claimed = files.claim_marked(command.svg, "--svg", kHistoryPictureMark); !claimed)
      return complain(claimed.error());
  const auto history = read_history(url, static_cast<std::size_t>(command.last), command.run);
  if (!history) return complain(history.error());
  if (!command.svg.empty())
    if (const auto written = files.write(command.svg, marked_svg(history_svg(*history), kHistoryPictureMark)); !written)
      return complain(written.error(), kNothingRan);
  if (command.json) {
    std::puts(history_json(*history).c_str());
    return kDone;
  }
  if (history->runs.empty()) std::printf("No runs yet in %s. Start one: tutti batch FOLDER\n", url.text().c_str());
  for (const auto& line : history_tables(*history, output_width())) std::puts(line.c_str());
  return kDone;
}

}  // namespace tutti
