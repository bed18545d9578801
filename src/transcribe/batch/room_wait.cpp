#include "transcribe/batch/room_wait.h"

#include "base/log.h"
#include "base/numbers.h"
#include "device/machine.h"

namespace tutti {
namespace {

/// A long transcript in every format, for each of some recordings in work.
constexpr Bytes kLeastRoom{1 << 20};

/// "0 bytes on /mnt/out (outputs)"
std::string room_text(const RoomWait::Place& place) {
  const auto room = place.folder.empty() ? fail(Fault::missing, "nowhere") : disk_room(place.folder);
  return room ? bytes_text(room->free) + " on " + room->mount.string() + " (" + place.what + ")" : std::string();
}

}  // namespace

/// All places, because the error may be any one's.
std::string RoomWait::words(Bytes needed, const Error& error) const {
  std::string free;
  for (const Place& place : places_)
    if (const std::string room = room_text(place); !room.empty()) free += (free.empty() ? "" : ", ") + room;
  std::string text = error.what;
  if (needed.value > 0) text += "; " + bytes_text(needed) + " are needed";
  return free.empty() ? text : text + "; free: " + free;
}

bool RoomWait::has_some() const {
  const auto& first = places_.front().folder;
  if (first.empty()) return true;
  const auto room = disk_room(first);
  return !room || room->free.value >= kLeastRoom.value;
}

void RoomWait::await_some() {
  // Whether it came, or somebody let go, shows at the next look.
  (void)patiently(kLeastRoom, [this]() -> Result<void> {
    if (has_some()) return {};
    return fail(Fault::full, places_.front().folder.string() + ": its disk is full");
  });
}

void RoomWait::enter(Bytes needed, const Error& error) {
  const std::string why = words(needed, error);  // asks the file systems: before the lock
  bool first = false;
  now_.change([&](State& now) {
    first = ++now.waiting == 1 && !now.over;
    if (!first) return;
    now.why = why;
    full_ = true;
  });
  if (!first) return;
  log(Level::warning, why + ". Free some space there: " + promise_ + " as soon as there is room, and until then no " +
                          "recording is begun");
  changed_();
}

void RoomWait::leave() {
  bool last = false, over = false;
  now_.change([&](State& now) {
    last = --now.waiting == 0 && !now.why.empty();
    over = now.over;
    if (!last) return;
    now.why.clear();
    full_ = false;
  });
  if (!last) return;
  if (!over) log(Level::info, "There is room again: the batch goes on");
  changed_();
}

std::string RoomWait::why() const {
  return now_.with([](const State& now) { return now.why; });
}

void RoomWait::let_go() {
  now_.change([](State& now) { now.over = true; });
}

bool RoomWait::sleep(Seconds pause) {
  return !now_.wait_for(pause, [](const State& now) { return now.over; });
}

}  // namespace tutti
