#pragma once

#include <mutex>

namespace tutti {

/// Watches `happened` for about a microsecond: at full speed the other side of a hand-off is a moment away, and a sleep
/// with its wake-up costs several. It must not be longer, and must not yield: on a machine busy with other work a yield
/// gives away a whole time slice, while a sleeper is put back at once.
template <class Happened>
bool spin_until(Happened happened) {
  for (int i = 0; i < 64; ++i) {
    if (happened()) return true;
    __builtin_ia32_pause();
  }
  return false;
}

/// Locks a mutex whose holders are always brief: a sleep would outlast them.
inline std::unique_lock<std::mutex> lock_soon(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::defer_lock);
  if (!spin_until([&] { return lock.try_lock(); })) lock.lock();
  return lock;
}

}  // namespace tutti
