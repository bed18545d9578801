#include "train/stop_signals.h"

#include <unistd.h>

#include <csignal>
#include <ctime>

namespace tutti {
namespace {

volatile std::sig_atomic_t requested = 0;
volatile std::time_t requested_at = 0;  // seconds of the monotonic clock

void request_stop(int) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  if (requested && now.tv_sec - requested_at > 1) ::_exit(130);
  if (!requested) requested_at = now.tv_sec;
  requested = 1;
}

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool stop_requested() {
  return requested != 0;
}

}  // namespace tutti
