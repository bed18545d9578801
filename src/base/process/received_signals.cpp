#include "base/process/received_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace tutti {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

ReceivedSignals::ReceivedSignals() : set_(stop_signals()) {
  // Blocked first: one that comes before the descriptor exists waits for it.
  ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
  fd_ = OwnedFd(::signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK));
}

ReceivedSignals::~ReceivedSignals() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

ReceivedSignal ReceivedSignals::read() const {
  signalfd_siginfo info{};
  if (::read(fd_.get(), &info, sizeof info) != sizeof info) return {};
  return {.number = static_cast<int>(info.ssi_signo), .by_terminal = info.ssi_code == SI_KERNEL};
}

}  // namespace tutti
