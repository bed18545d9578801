#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>

#include "audio/audio_choice.h"
#include "audio/recording.h"
#include "audio/sample_reader.h"
#include "base/error.h"
#include "diarize/diarize_options.h"
#include "diarize/speakers.h"
#include "link/window_engine.h"

namespace tutti {

/// Finds who speaks in a recording: its speech by the engine's segmentation, its voices by the engine's embedding. Some
/// requests are in flight together; the result does not depend on which device serves which. Fault::cancelled soon
/// after `aborted`.
Result<FoundSpeakers> find_recording_speakers(const SampleReader& audio, WindowEngine& engine,
                                              const DiarizeOptions& options, const std::atomic<bool>& aborted);

/// One speaker a channel of a stereo recording: SPEAKER_00 is the left one. By the speech of each channel, without a
/// network for voices; what crosses over from the other channel is left out. Decodes the file once a channel.
/// Fault::unsupported where the file has no second channel, or is standard input ("-"); Fault::cancelled soon after
/// `aborted`. Thread-safe, like the other: each call reads for itself, and the engine takes any number of callers.
Result<FoundSpeakers> find_channel_speakers(const std::filesystem::path& path, const AudioChoice& audio,
                                            const std::atomic<bool>& aborted);

/// Voices as numbers are biometric data: nothing but this file, which a user names, has them behind a run.
///
/// Adds the voices of a recording's speakers to a JSON file, which is made where it is not there: {"kind":
/// "tutti-voices", "recordings": {NAME: {SPEAKER: [192 numbers]}}}. Fault::usage where another file is there. Any
/// number of threads and processes may add to one file.
Result<void> save_voices(const std::filesystem::path& file, const std::string& recording, const FoundSpeakers& found);

/// Whether save_voices can add to that file: to refuse another one before anything is computed.
Result<void> expect_voices_file(const std::filesystem::path& file);

/// "2 speakers".
std::string speaker_count_text(std::size_t count);

}  // namespace tutti
