#pragma once

#include <csignal>

#include "base/owned.h"

namespace tutti {

/// Those by which people and schedulers end a command: SIGINT and SIGTERM.
sigset_t stop_signals();

/// One of the stop signals that this process was sent.
struct ReceivedSignal {
  int number = 0;            ///< 0: none came
  bool by_terminal = false;  ///< which sends it to all of the process group
};

/// SIGINT and SIGTERM as something to read, for as long as this object exists. Construct it before any thread that
/// runs beside it; one at a time. A child that is started meanwhile (base/process/child.h) has neither blocked.
class ReceivedSignals {
 public:
  ReceivedSignals();
  ReceivedSignals(const ReceivedSignals&) = delete;
  ReceivedSignals& operator=(const ReceivedSignals&) = delete;
  ~ReceivedSignals();

  /// Readable for poll() once a signal has come.
  int fd() const { return fd_.get(); }
  /// The next signal, without waiting for it.
  ReceivedSignal read() const;

 private:
  sigset_t set_;
  sigset_t before_{};
  OwnedFd fd_{};
};

}  // namespace tutti
