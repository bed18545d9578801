#include "base/process/child_watch.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>

#include "base/process/exit_code.h"

namespace tutti {
namespace {

constexpr Seconds kSame{1};        // signals that come so soon one after the other are one
constexpr Seconds kLastGrace{5};   // after the second one
constexpr int kLateSignal = 200;   // milliseconds that one may come after the child's end
constexpr double kMostWait = 2e9;  // milliseconds

int milliseconds(Seconds time) {
  return static_cast<int>(std::clamp(std::ceil(time.count() * 1000), 0.0, kMostWait));
}

}  // namespace

bool ChildWatch::ended_within(Seconds time) {
  const auto begun = Clock::real().now();
  for (;;) {
    const auto now = Clock::real().now();
    const int wait = killed_ ? milliseconds(*killed_ - now) : first_ ? -1 : milliseconds(time - (now - begun));
    pollfd watched[2] = {{child_.pidfd(), POLLIN, 0}, {signals_.fd(), POLLIN, 0}};
    const int ready = ::poll(watched, 2, wait);
    if (ready > 0 && watched[1].revents) take();
    if (ready > 0 && watched[0].revents) return true;
    if (ready != 0) continue;
    if (!first_ && Clock::real().now() - begun < time) continue;
    if (!first_) return false;
    send_(SIGKILL);
    killed_.reset();
  }
}

void ChildWatch::take() {
  const ReceivedSignal signal = signals_.read();
  if (signal.number == 0) return;
  const auto now = Clock::real().now();
  if (first_ && now - *first_ < kSame) return;
  if (!(signal.by_terminal && shares_group_)) send_(signal.number);
  if (!first_)
    first_ = now;
  else if (!killed_)
    killed_ = now + std::chrono::duration_cast<Clock::Instant::duration>(kLastGrace);
}

bool ChildWatch::was_interrupted(int code) {
  pollfd late{signals_.fd(), POLLIN, 0};
  const bool may_come = code == kInterrupted || code == 128 + SIGTERM;
  if (!first_ && may_come && ::poll(&late, 1, kLateSignal) > 0) first_ = Clock::real().now();
  while (signals_.read().number != 0) {
  }
  return first_.has_value();
}

}  // namespace tutti
