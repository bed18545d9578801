#pragma once

#include <cstdint>
#include <optional>

#include "balance/types.h"
#include "base/units.h"

namespace tutti {

/// A file that is going to be transcribed.
struct PoolJob {
  std::uint64_t id = 0;  // the caller's, unique
  Seconds audio{};       // 0: not known
  bool whole = false;    // on one device from start to end; else its windows may spread
  JobClass kind = JobClass::batch;
  int priority = 0;  // higher first, within its class
  // By the store's clock, from the start of the run.
  Seconds queued_at{};                // negative: an earlier run has requested it
  std::optional<Seconds> deadline{};  // the earliest interactive job comes first

  JobFacts facts() const {
    return {.kind = kind,
            .priority = priority,
            .queued_at = queued_at,
            .deadline = deadline,
            .audio = audio,
            .whole = whole};
  }
};

}  // namespace tutti
