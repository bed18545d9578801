#include <algorithm>
#include <string>
#include <utility>

#include "base/field_names.h"
#include "base/try.h"
#include "jobs/open_store.h"
#include "serve/dashboard/history_json.h"

namespace tutti {
namespace {

/// That run alone, with the events of its devices.
Result<History> of_run(History history, std::int64_t run) {
  std::erase_if(history.runs, [&](const RunRecord& each) { return each.id != run; });
  std::erase_if(history.events, [&](const DeviceEvent& each) { return each.run != run; });
  if (history.runs.empty())
    return fail(Fault::usage, field("run") + " " + std::to_string(run) + ": there is no such run",
                "tutti history lists them");
  std::erase_if(history.speeds, [&](const SpeedRecord& speed) {
    return std::ranges::none_of(history.runs.front().end.devices,
                                [&](const DeviceUse& use) { return use.device == speed.key.device; });
  });
  return history;
}

}  // namespace

Result<History> read_history(const StoreUrl& url, std::size_t last, std::optional<std::int64_t> run) {
  auto store = TRY(open_store_if_there(url));
  if (!store) return run ? of_run({}, *run) : History{};
  constexpr std::size_t kAll = 1'000'000;
  auto found = TRY(store->runs(run ? kAll : last));
  auto speeds = TRY(store->speeds(true));
  auto events = TRY(store->events(found.empty() ? StoreTime{} : found.back().started));
  History history{std::move(found), std::move(speeds), std::move(events)};
  if (!run) return history;
  auto one = of_run(std::move(history), *run);
  if (!one || one->runs.front().start.batch.empty()) return one;
  one->now = TRY(store->counts({.batch = one->runs.front().start.batch}));
  return one;
}

}  // namespace tutti
