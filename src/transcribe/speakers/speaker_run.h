#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "audio/audio_choice.h"
#include "base/error.h"
#include "base/output_ownership.h"
#include "device/device_spec.h"
#include "diarize/diarize_options.h"
#include "link/worker_handle.h"
#include "transcribe/output_plan.h"

namespace tutti {

// Who speaks in recordings, without a model for speech.

/// The device of that name. Fault::unsupported for an emulated one.
Result<ResolvedDevice> speaker_device(const std::string& name);

/// Starts a worker on it that has no model for speech, and waits until it is ready. `build_id`: of this program, which
/// the engine has to have, too.
Result<std::unique_ptr<WorkerHandle>> start_speaker_worker(const ResolvedDevice& device, std::int32_t threads,
                                                           std::string_view build_id);

/// What all recordings of a run share. Borrowed.
struct SpeakerRun {
  const DiarizeOptions& options;
  const OutputOwnership& ownership;
  WindowEngine* engine;  ///< null where channels are speakers
  const std::atomic<bool>& stopped;
};

/// What was found in a recording.
struct WrittenTurns {
  Seconds duration{};  ///< length of the recording
  std::vector<SpeakerSummary> speakers{};
};

/// Decodes a recording, finds its speakers, and writes their turns as RTTM into the planned output; their voices, too,
/// where the options request that. Blocks.
Result<WrittenTurns> write_turns(const PlannedFile& file, const AudioChoice& audio, const SpeakerRun& run);

}  // namespace tutti
