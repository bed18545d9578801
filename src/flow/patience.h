#pragma once

#include <thread>

namespace tutti {

/// How long a thread tries before it sleeps: about a microsecond of watching, then a few turns given to other threads
/// (on a busy machine the other side may need this very core).
class Patience {
 public:
  bool is_over() const { return rounds_ >= kSpins + kYields; }

  /// Watches `happened` until it holds or one round is spent.
  template <class Happened>
  void wait(Happened happened) {
    for (; rounds_ < kSpins; ++rounds_) {
      if (happened()) return;
      pause();
    }
    if (happened() || is_over()) return;
    ++rounds_;
    std::this_thread::yield();
  }

 private:
  static constexpr int kSpins = 64;
  static constexpr int kYields = 4;

  static void pause() { __builtin_ia32_pause(); }

  int rounds_ = 0;
};

}  // namespace tutti
