#pragma once

#include <memory>

#include "transcribe/live/caption_files.h"

namespace tutti {

/// An event a line: {"type": "partial"|"final", "id", "start", "end", "text"}.
std::unique_ptr<CaptionDisplay> make_caption_events();
/// Segments with their times, a line each, once they are final.
std::unique_ptr<CaptionDisplay> make_caption_lines();
/// For a terminal: running text, dim where it may still change.
std::unique_ptr<CaptionDisplay> make_running_captions();
/// Nothing.
std::unique_ptr<CaptionDisplay> make_no_captions();

}  // namespace tutti
