#pragma once

#include <span>
#include <string>
#include <vector>

#include "audio/sample_reader.h"
#include "base/error.h"
#include "base/units.h"
#include "link/other_engine.h"
#include "link/window_engine.h"
#include "transcribe/remote_windows.h"
#include "transcript/transcript.h"

namespace tutti {

/// All of some audio at 16 kHz as an engine of others takes it: -1 to 1.
Result<std::vector<float>> pcm_of(const SampleReader& audio);

/// An engine's answer about a window of that length. Times are moved into the window where they are beyond its ends.
/// Fault::corrupt: the answer is no transcript, or its times are none.
Result<Transcript> transcript_of(const Transcribed& answer, Seconds window);

/// A window of PCM on an engine of others: opened when it is transcribed, and released with this. One thread.
class PcmWindow {
 public:
  /// Borrows all of it.
  PcmWindow(WindowEngine& engine, std::span<const float> pcm, const OtherEngine& other)
      : engine_(engine), pcm_(pcm), other_(other) {}
  ~PcmWindow();
  PcmWindow(const PcmWindow&) = delete;
  PcmWindow& operator=(const PcmWindow&) = delete;

  /// Once. `language`: its code; empty, or where the engine takes none: the engine's to find out.
  Result<Transcript> transcribe(const std::string& language);

  const WindowCosts& costs() const { return costs_; }

 private:
  WindowEngine& engine_;
  const std::span<const float> pcm_;
  const OtherEngine& other_;
  WindowId window_ = 0;  // 0: not open
  WindowCosts costs_{};
};

}  // namespace tutti
