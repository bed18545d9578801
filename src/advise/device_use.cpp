#include "advise/device_use.h"

#include <algorithm>

namespace tutti {
namespace {

/// Of the steps' time: a thread that is on a processor for so much of it has no time left to launch more.
constexpr double kBusyHost = 0.7;

}  // namespace

LowUse cause_of(const DeviceUse& use) {
  const double idle_in_steps = std::max(0.0, 1 - use.waiting - use.busy);
  if (use.waiting > idle_in_steps) return LowUse::feed;
  return use.host >= kBusyHost ? LowUse::launch : LowUse::batch;
}

double gain_of_double_batch(const DeviceUse& use) {
  const double idle_in_steps = std::max(0.0, 1 - use.waiting - use.busy);
  return 1 / (1 - idle_in_steps / 2) - 1;
}

double gain_without_waits(const DeviceUse& use) {
  const double rest = std::max(1 - use.waiting, 0.01);
  return 1 / rest - 1;
}

}  // namespace tutti
