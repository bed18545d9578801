#include "apart.h"

#include "base/process/child.h"
#include "base/units.h"

namespace tutti {
namespace {

constexpr Seconds kLongest{4 * 3600};  // all sizes in all types, on a slow card; what takes longer hangs
constexpr int kFailed = 1;

void run_one(Report& report, const CheckApart& check) {
  const auto lost = [&](const std::string& what) {
    report.add({.check = check.name, .what = "its process " + what, .unit = "ran to its end", .passed = false});
  };
  const auto child = Child::start({.name = check.name, .command = check.command, .streams = ChildStreams::terminal});
  if (!child) return lost("did not start: " + child.error().text());
  const auto& ended = (*child)->end(kLongest);
  if (ended.signal == 0 && ended.status == kFailed) return report.fail(check.name);  // it has said why
  if (ended.signal != 0 || ended.status != 0) lost(ended.words);
}

}  // namespace

void run_apart(Report& report, std::span<const CheckApart> checks) {
  for (const auto& check : checks) run_one(report, check);
}

}  // namespace tutti
