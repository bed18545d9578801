#pragma once

#include <cstddef>
#include <optional>

#include "audio/recording.h"
#include "device/machine.h"
#include "flow/pipeline.h"
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

/// Threads of the stages that make windows of recordings.
struct AudioThreads {
  int decode = 1;
  int detect = 1;
  int prepare = 1;
  bool operator==(const AudioThreads&) const = default;

  /// The greater of both, stage by stage.
  AudioThreads at_least(const AudioThreads& other) const;
};

/// As many threads as devices that together do `speed` seconds of audio a second never wait for, by what a core does at
/// least (prefetch.cpp states how much that is). That is four that decode and four that detect speech for slow
/// devices, and no more than there are `cores` for fast ones. A thread too many waits for space and costs a decoded
/// recording on disk.
AudioThreads audio_threads(int cores, double speed);

/// Gives the stages of a running pipeline (run_stages.h) these threads; `detects_speech`: it has the stage that detects
/// speech.
Result<void> set_audio_threads(Pipeline& pipeline, const AudioThreads& threads, bool detects_speech);

}  // namespace tutti
