#include "worker/memory_backoff.h"

#include <cstdint>
#include <utility>

#include "base/log.h"
#include "link/messages.h"

namespace tutti {

MemoryBackoff::MemoryBackoff(std::vector<Step> steps, std::function<void()> release, Reply reply)
    : steps_(std::move(steps)), release_(std::move(release)), reply_(std::move(reply)) {}

/// False: trying again has no use.
bool MemoryBackoff::gives_up_some(const CaughtFault& fault) {
  if (fault.fatal) {
    is_device_lost_ = true;
    reply_(failure_of(0, 0, fault.error));
  }
  if (!fault.out_of_memory) return false;
  for (const auto& step : steps_) {
    const auto given_up = step();
    if (!given_up) continue;
    release_();
    if (!given_up->empty())
      reply_(LogLine{.level = static_cast<std::uint8_t>(Level::warning), .text = fault.error.what + ": " + *given_up});
    return true;
  }
  return false;
}

}  // namespace tutti
