#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "jobs/store_clock.h"

namespace tutti {

/// A machine whose time, date and boots the test moves. Thread-safe but for `boot_again`.
class FakeStoreClock final : public StoreClock {
 public:
  std::chrono::milliseconds since_boot() const override { return std::chrono::milliseconds(up_.load()); }
  std::string boot() const override { return "boot " + std::to_string(boots_); }
  StoreTime wall() const override { return StoreTime(std::chrono::milliseconds(wall_.load())); }

  void advance(std::chrono::milliseconds by) {
    up_ += by.count();
    wall_ += by.count();
    if (on_advance) on_advance(by);
  }
  /// Sets the wall clock forward or back.
  void jump(std::chrono::milliseconds by) { wall_ += by.count(); }
  void boot_again() {
    ++boots_;
    up_ = 1000;
  }

  mutable std::function<void(std::chrono::milliseconds)> on_advance{};  // moves a server's clock, too

 private:
  std::atomic<std::int64_t> up_ = 1'000'000;
  std::atomic<std::int64_t> wall_ = 1'700'000'000'000;
  int boots_ = 1;
};

}  // namespace tutti
