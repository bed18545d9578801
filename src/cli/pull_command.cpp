#include <unistd.h>

#include <cstdio>

#include "base/clock.h"
#include "base/numbers.h"
#include "base/process/exit_code.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "hub/find.h"
#include "hub/names.h"
#include "hub/pull.h"
#include "view/progress.h"
#include "view/text.h"

namespace tutti {
namespace {

struct PullCommand {
  std::vector<std::string> names{};
  bool quiet = false;
};

/// The download as one line at the bottom of the terminal; nothing in a pipe.
class DownloadLine {
 public:
  void show(const PullProgress& progress) {
    const auto now = Clock::real().now();
    if (!on_terminal_ || now - shown_ < std::chrono::milliseconds(200)) return;
    shown_ = now;
    const Seconds elapsed = now - started_;
    if (first_ < 0) first_ = progress.done;  // what an earlier pull had brought is not this one's speed
    const double rate = elapsed > Seconds(0) ? static_cast<double>(progress.done - first_) / elapsed.count() : 0;
    std::string line = progress.file + "  " + bytes_text({progress.done}) + " of " + bytes_text({progress.total});
    if (rate > 0)
      line += "  " + bytes_text({static_cast<std::int64_t>(rate)}) + "/s  " +
              length_text(Seconds(static_cast<double>(progress.total - progress.done) / rate)) + " left";
    lines_.show({fitted(line, lines_.width())});
  }
  void clear() { lines_.clear(); }

 private:
  const bool on_terminal_ = ::isatty(STDERR_FILENO) == 1;
  const Clock::Instant started_ = Clock::real().now();
  Clock::Instant shown_{};
  std::int64_t first_ = -1;
  LiveLines lines_{STDERR_FILENO};
};

}  // namespace

int run_pull(const std::vector<std::string>& arguments) {
  PullCommand command;
  OptionTable table(
      "pull",
      "Fetch a Whisper model from a Hugging Face hub into Tutti's cache, ~/.cache/tutti unless TUTTI_CACHE names "
      "another folder. HF_ENDPOINT names another hub, HF_TOKEN lets you in, HF_HUB_OFFLINE=1 forbids it. A stopped "
      "pull goes on where it was. Exit codes: 0 all are here, 2 a name that can be no model's, 3 some could not be "
      "fetched, 4 none could.");
  table.positional(command.names, "NAME...", "tiny.en, large-v3, turbo, ... or a repository: openai/whisper-small");
  table.add_switch("quiet", command.quiet, "print nothing but errors").letter = 'q';
  table.examples({"tutti pull tiny.en", "tutti pull openai/whisper-medium distil-whisper/distil-large-v3"});
  if (const auto code = start_command(table, arguments)) return *code;
  for (const auto& name : command.names)  // nothing is fetched for any of them where one is not valid
    if (const auto known = resolve_name(name); !known) return complain(known.error());

  Interrupt interrupt;
  std::size_t failed = 0;
  for (const auto& name : command.names) {
    DownloadLine line;
    const auto folder = pull(name, {.hub = HubAccess::from_environment(),
                                    .into = ModelFolders::from_environment().own,
                                    .progress =
                                        [&](const PullProgress& progress) {
                                          if (!command.quiet) line.show(progress);
                                        },
                                    .go_on = [&] { return !interrupt.raised(); }});
    line.clear();
    if (interrupt.raised())
      return complain({Fault::cancelled, name + ": stopped", "Pull it again to go on"}, kInterrupted);
    if (!folder) {
      ++failed;
      complain(folder.error(), kSomeFailed);
    } else if (!command.quiet) {
      std::printf("%s -> %s\n", name.c_str(), folder->c_str());
    }
  }
  return failed == 0 ? kDone : failed == command.names.size() ? kNothingRan : kSomeFailed;
}

}  // namespace tutti
