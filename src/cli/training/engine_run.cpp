#include "cli/training/engine_run.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

#include "base/child.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "link/engine_command.h"

namespace tutti {
namespace {

/// SIGINT and SIGTERM as something to read, for as long as this lives.
class StopSignals {
 public:
  StopSignals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGINT);
    sigaddset(&set_, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
    fd_ = OwnedFd(::signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  StopSignals(const StopSignals&) = delete;
  ~StopSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  int fd() const { return fd_.get(); }
  /// The signal to hand on; 0 for one that the terminal has sent to the child as well.
  int read() const {
    signalfd_siginfo info{};
    if (::read(fd_.get(), &info, sizeof info) != sizeof info) return 0;
    return info.ssi_code == SI_KERNEL ? 0 : static_cast<int>(info.ssi_signo);
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
  OwnedFd fd_{};
};

void wait_for(const Child& child, const StopSignals& signals) {
  pollfd watched[2] = {{child.pidfd(), POLLIN, 0}, {signals.fd(), POLLIN, 0}};
  for (;;) {
    if (::poll(watched, 2, -1) < 0) continue;
    if (watched[0].revents) return;
    if (const int signal = signals.read()) ::kill(child.pid(), signal);
  }
}

}  // namespace

int run_engine(const std::vector<std::string>& arguments, const std::string& doing) {
  auto command = engine_command(EngineSettings::of_this_process(), arguments);
  if (!command) return complain(command.error(), kNothingRan);
  const StopSignals signals;
  const auto child =
      Child::start({.name = "tutti-engine", .command = std::move(command->words), .streams = ChildStreams::terminal});
  if (!child) return complain(child.error(), kNothingRan);
  wait_for(**child, signals);
  const ChildEnd& end = (*child)->end(Seconds(0));
  if (end.signal == 0) return end.status;
  return complain({Fault::device, "tutti-engine " + end.words + " while " + doing}, kNothingRan);
}

}  // namespace tutti
