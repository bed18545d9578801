#include "transcribe/batch/disk_space_wait.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/numbers.h"
#include "device/machine.h"

namespace tutti {
namespace {

/// A long transcript in every format, for each of some recordings in work.
constexpr Bytes kLeastSpace{1 << 20};

/// "0 bytes on /mnt/out (outputs)"
std::string space_text(const DiskSpaceWait::Location& location) {
  const auto space = location.folder.empty() ? fail(Fault::missing, "nowhere") : disk_space(location.folder);
  return space ? bytes_text(space->free) + " on " + space->mount.string() + " (" + location.what + ")" : std::string();
}

/// Why it may not be written to; not that it is not there, or no folder: whatever that is, its permissions are not.
std::optional<Error> refusal_of(const DiskSpaceWait::Location& location) {
  const auto why = location.folder.empty() ? std::error_code() : why_not_writable(location.folder);
  if (!why) return {};
  Error error =
      system_error(location.folder.string(), std::string(location.what) + " cannot be written there", why.value());
  return error.fault == Fault::refused ? std::optional(std::move(error)) : std::nullopt;
}

}  // namespace

/// Names all locations, because the error may be about any of them.
std::string DiskSpaceWait::words(Bytes needed, const Error& error) const {
  if (error.fault != Fault::full) return error.what;
  std::string free;
  for (const Location& location : locations_)
    if (const std::string space = space_text(location); !space.empty()) free += (free.empty() ? "" : ", ") + space;
  std::string text = error.what;
  if (needed.value > 0) text += "; " + bytes_text(needed) + " are needed";
  return free.empty() ? text : text + "; free: " + free;
}

/// A refusal that names no location may be about one recording's folder, or about a limit.
bool DiskSpaceWait::is_curable(const Error& error) const {
  return error.fault == Fault::full ||
         (error.fault == Fault::refused &&
          std::ranges::any_of(locations_, [](const Location& location) { return refusal_of(location).has_value(); }));
}

Result<void> DiskSpaceWait::expect_some() const {
  const Location& first = locations_.front();
  if (first.folder.empty()) return {};
  if (auto refusal = refusal_of(first)) return tl::unexpected(*std::move(refusal));
  const auto space = disk_space(first.folder);
  if (!space || space->free.value >= kLeastSpace.value) return {};
  return fail(Fault::full, first.folder.string() + ": its disk is full");
}

void DiskSpaceWait::await_some() {
  // Whether there is space, or the wait was closed, shows at the next look.
  (void)retry_until_written(kLeastSpace, [this] { return expect_some(); });
}

DiskSpaceWait::Reasons::iterator DiskSpaceWait::enter(Bytes needed, const Error& error) {
  // It queries the file systems: before the lock.
  Reason reason{error.fault == Fault::full ? Hold::full : Hold::not_writable, words(needed, error)};
  Reasons::iterator mine;
  now_.change([&](State& now) {
    mine = now.over ? now.waiting.end() : now.waiting.insert(now.waiting.end(), std::move(reason));
  });
  report();
  return mine;
}

void DiskSpaceWait::leave(Reasons::iterator mine) {
  now_.change([&](State& now) {
    if (mine != now.waiting.end()) now.waiting.erase(mine);
  });
  report();
}

/// Threads that begin or end a wait at the same time report the present state, one after the other.
void DiskSpaceWait::report() {
  const MutexLock lock(reporting_);
  const auto [hold, why, over] =
      now_.with([](const State& now) { return std::tuple(now.hold(), now.why(), now.over); });
  const Hold before = std::exchange(reported_, hold);
  if (hold == before) return;
  const bool full = hold == Hold::full;
  if (hold != Hold::none)
    log(Level::warning, why + (full ? ". Free some space there: " : ". Make that writable again: ") + promise_ +
                            (full ? " as soon as there is space" : " as soon as it is") +
                            ", and until then no recording is begun");
  else if (!over)
    log(Level::info, std::string(before == Hold::full ? "There is space again" : "It can be written to again") +
                         ": the batch goes on");
  changed_();
}

DiskSpaceWait::Hold DiskSpaceWait::hold() const {
  return now_.with([](const State& now) { return now.hold(); });
}

std::string DiskSpaceWait::why() const {
  return now_.with([](const State& now) { return now.why(); });
}

void DiskSpaceWait::close() {
  now_.change([](State& now) { now.over = true; });
}

bool DiskSpaceWait::sleep(Seconds pause) {
  return !now_.wait_for(pause, [](const State& now) { return now.over; });
}

RunSpaces::RunSpaces(const std::filesystem::path& outputs, const std::filesystem::path& state,
                     const std::function<void()>& changed)
    : output({{outputs, "outputs"}, {state, "state"}}, "what is transcribed is kept and written", changed),
      spool({{temporary_folder(), "TMPDIR"}}, "recordings are decoded there", changed) {}

std::string RunSpaces::held_up() const {
  const std::string results = output.why(), audio = spool.why();
  return results.empty() || audio.empty() ? results + audio : results + "; " + audio;
}

void RunSpaces::close() {
  output.close();
  spool.close();
}

}  // namespace tutti
