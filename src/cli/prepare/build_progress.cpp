#include "cli/prepare/build_progress.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/process/exit_code.h"
#include "base/units.h"
#include "cli/command_start.h"

namespace tutti {

BuildProgress::BuildProgress(const Interrupt& interrupt, std::string what)
    : interrupt_(interrupt), what_(std::move(what)), terminal_(::isatty(STDERR_FILENO) == 1) {}

bool BuildProgress::operator()(std::int64_t done, std::int64_t all) {
  shown_.with([&](Clock::Instant& last) {
    constexpr double kOnTerminal = 0.2, kInLog = 10;  // seconds from one line to the next
    const auto now = Clock::real().now();
    if (Seconds(now - last).count() < (terminal_ ? kOnTerminal : kInLog) && done < all) return;
    last = now;
    if (terminal_)
      std::fprintf(stderr, "\r%lld of %lld %s", static_cast<long long>(done), static_cast<long long>(all),
                   what_.c_str());
    if (!terminal_ && done < all)
      std::fprintf(stderr, "%lld of %lld %s\n", static_cast<long long>(done), static_cast<long long>(all),
                   what_.c_str());
    if (terminal_ && done == all) std::fputc('\n', stderr);
  });
  return !interrupt_.raised();
}

int end_with_finding(const Result<std::string>& sentence, int code) {
  if (!sentence) {
    const int fault = complain(sentence.error());
    return code == kDone ? fault : code;
  }
  if (sentence->empty()) return code;
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", sentence->c_str());
  return code;
}

}  // namespace tutti
