#pragma once

#include <span>

#include "base/error.h"
#include "base/units.h"
#include "link/messages.h"

namespace tutti {

/// An encoder and decoder of windows: a worker process, or a script in tests. Thread-safe; every call waits for its
/// answer. A worker that dies meanwhile is the engine's own affair: the caller only sees a slower answer, or in the end
/// an Error.
class WindowEngine {
 public:
  virtual ~WindowEngine() = default;

  /// Encodes a window. mel: [n_mels, frames] float32, row-major, frames at most the model's window; n_mels 0: PCM, as
  /// OpenWindow has it. `facts.window` is any number but 0, and of no window that is open.
  virtual Result<Opened> open(const OpenWindow& facts, std::span<const float> mel) = 0;
  virtual Result<Language> detect_language(WindowId window) = 0;
  virtual Result<Decoded> decode(const DecodeWindow& request) = 0;
  virtual Result<Aligned> align(const AlignWindow& request) = 0;
  /// The text of an open window of PCM. Fault::unsupported: the engine takes mel.
  virtual Result<Transcribed> transcribe(const TranscribeWindow&) {
    return fail(Fault::unsupported, "the engine takes mel, and no PCM");
  }
  /// Runs a network that finds who speaks. inputs: as AnalyzeSpeakers has them. The request's `window` is any number
  /// but 0, and of no window that is open. Fault::unsupported: the engine has no such networks.
  virtual Result<SpeakersAnalyzed> analyze_speakers(const AnalyzeSpeakers&, std::span<const float> /*inputs*/) {
    return fail(Fault::unsupported, "the engine has no networks that find who speaks");
  }
  /// Whether its device is a GPU, or one of its devices is.
  virtual bool has_gpu() const { return false; }
  /// Frees what an open window holds. Unknown ids are ignored.
  virtual void release(WindowId window) = 0;
  /// How much audio all windows of the recording come to, as found since, so that the scheduler of the devices can plan
  /// with it. Nothing to do where there is one worker.
  virtual void correct_length(Seconds) {}
};

}  // namespace tutti
