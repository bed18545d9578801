#pragma once

#include <cstddef>
#include <optional>

#include "audio/recording.h"
#include "device/machine.h"
#include "flow/queue_limits.h"
#include "transcribe/file_transcription.h"
#include "transcribe/work.h"

namespace tutti {

/// How much of what is prepared may wait for a worker: a few items, and no more bytes than an eighth of the memory that
/// is available when the run begins, 64 MiB at least. What is larger than its part waits alone.
struct LookAhead {
  std::size_t decoded = kUnlimited;   // bytes of recordings between two stages; a quarter, because there are two queues
  std::size_t prepared = kUnlimited;  // bytes of features; a half
  bool samples_in_memory = false;     // decoded recordings lie there, too: $TMPDIR is a tmpfs

  std::size_t bytes_of(const Recording& recording) const;
  std::size_t bytes_of(const DecodedFile& file) const;
  std::size_t bytes_of(const Work& work) const;
};

/// Decides, purely. Memory that the system does not tell bounds nothing.
LookAhead look_ahead(const std::optional<MemoryFacts>& memory, bool samples_in_memory);

/// The same for this machine now; a control group's limit counts.
LookAhead look_ahead();

}  // namespace tutti
