#pragma once

#include <map>
#include <string>
#include <vector>

#include "balance/dispatcher.h"

namespace tutti {

inline DeviceFacts device(std::string id, double speed, int slots) {
  return {.id = std::move(id), .speed = speed, .slots = slots};
}

inline JobFacts whole_file(Seconds audio) {
  return {.audio = audio, .whole = true};
}

/// Takes everything there is to take.
inline std::vector<Grant> take_all(Dispatcher& dispatcher, Seconds now) {
  std::vector<Grant> grants;
  while (const auto grant = dispatcher.next(now)) grants.push_back(*grant);
  return grants;
}

inline std::map<DeviceIndex, int> by_device(const std::vector<Grant>& grants) {
  std::map<DeviceIndex, int> count;
  for (const auto& grant : grants) ++count[grant.device];
  return count;
}

/// Adds a whole file that can start.
inline void add_file(Dispatcher& dispatcher, JobKey id, Seconds audio, Seconds now = {}, JobFacts facts = {}) {
  facts.audio = audio;
  facts.whole = true;
  facts.queued_at = now;
  dispatcher.add_job(id, facts, now);
  dispatcher.offer(id, audio, 1, now);
}

}  // namespace tutti
