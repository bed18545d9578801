#pragma once

#include "flow/pipeline.h"

namespace tutti {

/// Threads of the stages that make windows of recordings.
struct AudioThreads {
  int decode = 1;
  int listen = 1;
  int prepare = 1;
  bool operator==(const AudioThreads&) const = default;

  /// The greater of both, stage by stage.
  AudioThreads at_least(const AudioThreads& other) const;
};

/// As many threads as devices that together do `speed` seconds of audio a second never wait for, by what a core does at
/// least (audio_threads.cpp states how much that is). That is four that decode and four that detect speech for slow
/// devices, and no more than there are `cores` for fast ones. A thread too many waits for space and costs a decoded
/// recording on disk.
AudioThreads audio_threads(int cores, double speed);

/// Gives the stages of a running pipeline (run_stages.h) these threads; `listens`: it has the stage that detects
/// speech.
Result<void> set_audio_threads(Pipeline& pipeline, const AudioThreads& threads, bool listens);

}  // namespace tutti
