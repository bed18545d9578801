#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "transcript/long_form.h"
#include "transcript/slices.h"
#include "transcript/transcript.h"

namespace tutti {

/// Do the segment's first words look invented: improbable, or far too short or long? False without words
/// (transcribe.py, is_segment_anomaly).
bool is_anomalous(const Segment& segment);

/// What word times depend on outside of their window.
struct AroundWindow {
  double last_speech = 0;           // where the last word of earlier windows ended, seconds
  std::int64_t content_frames = 0;  // frames of all that is to be transcribed; behind them no window begins
};

/// One window that was decoded.
struct WindowContext {
  WindowSpan span{};
  std::int64_t frames_per_window = 3000;  // frames of the model's window; `span` is shorter at the end of a clip
  bool closed = false;                    // the text ended in a single timestamp
  AroundWindow around{};
};

/// What becomes of a window whose segments have their words.
struct WordSeek {
  std::int64_t next_seek = 0;  // frame to go on at; may be at or before the window's start where the reference hangs
  bool dropped = false;        // all of it was invented: as if it had never been decoded
};

/// Where to go on behind a window with word times: where the last word ended, unless the text was `closed`. With a
/// hallucination-silence threshold, silence before what looks invented is skipped. From the first segment on that looks
/// so and is in silence, `segments` are dropped, to be decoded again (transcribe.py). `next_seek`: by the timestamps
/// alone.
WordSeek seek_by_words(std::vector<Segment>& segments, const WindowContext& window, const WordRules& rules,
                       std::int64_t next_seek);

}  // namespace tutti
