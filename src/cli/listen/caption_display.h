#pragma once

#include <memory>

#include "transcribe/live/captions.h"
#include "transcript/transcript.h"

namespace tutti {

/// How live text is shown on standard output. One thread at a time.
class CaptionDisplay {
 public:
  virtual ~CaptionDisplay() = default;
  virtual void show_partial(const Caption& caption) = 0;
  virtual void show_final(const Caption& caption) = 0;
  /// A segment of the final text is complete.
  virtual void show_segment(const Segment& /*segment*/) {}
  /// Nothing follows.
  virtual void end() {}
};

/// An event a line: {"type": "partial"|"final", "id", "start", "end", "text"}.
std::unique_ptr<CaptionDisplay> make_caption_events();
/// Segments with their times, a line each, once they are final.
std::unique_ptr<CaptionDisplay> make_caption_lines();
/// For a terminal: running text, dim where it may still change.
std::unique_ptr<CaptionDisplay> make_running_captions();
/// Nothing.
std::unique_ptr<CaptionDisplay> make_no_captions();

}  // namespace tutti
