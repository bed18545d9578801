#include "train/stop_signals.h"

#include <unistd.h>

#include <csignal>
#include <ctime>

namespace tutti {
namespace {

volatile std::sig_atomic_t asked = 0;
volatile std::time_t asked_at = 0;  // seconds of the monotonic clock

void ask(int) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  if (asked && now.tv_sec - asked_at > 1) ::_exit(130);
  if (!asked) asked_at = now.tv_sec;
  asked = 1;
}

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = ask;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool stop_was_asked() {
  return asked != 0;
}

}  // namespace tutti
