#include "cli/interrupt.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "base/guarded.h"
#include "base/owned.h"
#include "base/process/received_signals.h"

namespace tutti {
namespace {

/// A signal that comes so soon after the first is the same one, to all of the process group and handed on as well.
constexpr std::chrono::milliseconds kSame{100};

struct Call {
  std::function<void()> call;
  bool due = false;
  bool running = false;
};

/// Makes the call, now and when one is set later.
void run(Guarded<Call>& guarded) {
  std::function<void()> call;
  guarded.change([&](Call& now) {
    now.due = true;
    now.running = static_cast<bool>(now.call);
    call = now.call;
  });
  if (call) call();
  guarded.change([](Call& now) { now.running = false; });
}

void set(Guarded<Call>& guarded, const std::function<void()>& call) {
  const bool due = guarded.wait([](const Call& now) { return !now.running; },
                                [&](Call& now) {
                                  now.call = call;
                                  return now.due;
                                });
  if (due && call) call();
}

}  // namespace

struct Interrupt::State {
  std::chrono::milliseconds grace;
  std::atomic<bool> raised{false};
  Guarded<Call> raise{};
  Guarded<Call> abort{};
  OwnedFd signals;
  OwnedFd ended;  // an eventfd, written when the watcher is to go
  std::atomic<bool> ending{false};
  std::thread watcher{};

  /// True when something came within the time; -1 waits for ever.
  bool wait_for_signal(int milliseconds) const {
    pollfd watched[2] = {{signals.get(), POLLIN, 0}, {ended.get(), POLLIN, 0}};
    if (::poll(watched, 2, milliseconds) <= 0) return false;
    signalfd_siginfo info;
    std::uint64_t count = 0;
    if (watched[0].revents) return ::read(signals.get(), &info, sizeof info) > 0;
    return ::read(ended.get(), &count, sizeof count) > 0;
  }

  /// Whether a second signal comes within the grace.
  bool comes_again(std::chrono::steady_clock::time_point first) const {
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(first + grace - std::chrono::steady_clock::now());
      if (!wait_for_signal(std::max(0, static_cast<int>(left.count())))) return false;
      if (ending || std::chrono::steady_clock::now() - first > kSame) return true;
    }
  }

  void watch() {
    while (!wait_for_signal(-1)) {
    }
    if (ending) return;
    raised = true;
    const auto first = std::chrono::steady_clock::now();
    run(raise);
    const bool again = comes_again(first);
    if (ending) return;
    if (again) ::_exit(130);
    run(abort);
    while (!wait_for_signal(-1)) {
    }
    if (!ending) ::_exit(130);
  }
};

Interrupt::Interrupt(std::chrono::milliseconds grace) : state_(std::make_unique<State>()) {
  const sigset_t set = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  state_->grace = grace;
  state_->signals = OwnedFd(::signalfd(-1, &set, SFD_CLOEXEC));
  state_->ended = OwnedFd(::eventfd(0, EFD_CLOEXEC));
  if (!state_->signals || !state_->ended) throw std::runtime_error("no descriptor left for signals");
  state_->watcher = std::thread([state = state_.get()] { state->watch(); });
}

Interrupt::~Interrupt() {
  state_->ending = true;
  ::eventfd_write(state_->ended.get(), 1);
  state_->watcher.join();
}

bool Interrupt::raised() const {
  return state_->raised;
}

void Interrupt::on_raise(const std::function<void()>& raise) {
  set(state_->raise, raise);
}

void Interrupt::on_abort(const std::function<void()>& abort) {
  set(state_->abort, abort);
}

}  // namespace tutti
