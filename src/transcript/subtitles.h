#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "transcript/transcript.h"
#include "transcript/writers.h"

namespace tutti {

/// How a subtitle format writes times.
struct SubtitleClock {
  bool hours_always = false;
  char decimal_mark = '.';
};

inline constexpr SubtitleClock kVttClock{.hours_always = false, .decimal_mark = '.'};
inline constexpr SubtitleClock kSrtClock{.hours_always = true, .decimal_mark = ','};

/// One text on the screen, its times as written.
struct Subtitle {
  std::string start;
  std::string end;
  std::string text;
};

/// [HH:]MM:SS.mmm, rounded to milliseconds; `seconds` is finite and not negative.
std::string clock_text(double seconds, SubtitleClock clock);

/// The prefix of a speaker's words, "[SPEAKER_01]: " as whisper-ctranslate2 writes it; empty where none is known.
std::string speaker_prefix(const std::string& speaker);

/// One subtitle a segment, or the words laid out as `options` say where the transcript has word times.
Result<std::vector<Subtitle>> subtitles(const Transcript& transcript, SubtitleClock clock,
                                        const WriterOptions& options);

}  // namespace tutti
