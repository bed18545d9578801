#include "apart.h"

#include <csignal>

#include "base/clock.h"
#include "base/numbers.h"
#include "base/process/child.h"

namespace tutti {
namespace {

constexpr int kFailed = 1;

void run_one(Report& report, const CheckApart& check, Seconds longest) {
  const auto lost = [&](const std::string& what) {
    report.add({.check = check.name, .what = "its process " + what, .unit = "ran to its end", .passed = false});
  };
  const auto child = Child::start({.name = check.name, .command = check.command, .streams = ChildStreams::terminal});
  if (!child) return lost("did not start: " + child.error().text());
  const auto began = Clock::real().now();
  const auto& ended = (*child)->end(longest);
  if (ended.signal == SIGKILL && Clock::real().now() - began >= longest)
    return lost("was not done within " + number_text(longest.count()) + " s and was killed");
  if (ended.signal == 0 && ended.status == kFailed) return report.fail(check.name);  // it has printed why
  if (ended.signal != 0 || ended.status != 0) lost(ended.words);
}

}  // namespace

void run_apart(Report& report, std::span<const CheckApart> checks, Seconds longest) {
  for (const auto& check : checks) run_one(report, check, longest);
}

}  // namespace tutti
