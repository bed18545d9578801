#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "transcript/transcript.h"

namespace tutti {

/// The output files of openai-whisper, in its order; and the turns of speakers (diarize/rttm.h).
enum class Format { txt, vtt, srt, tsv, json, rttm };

/// The formats that `name` means: one, or openai-whisper's for "all".
Result<std::vector<Format>> parse_formats(std::string_view name);

/// File name extension, without the dot; also the name that parse_formats understands.
std::string_view extension(Format format);

/// How words are laid out in subtitles, which without word times (Segment::words) has no effect, 0 meaning none; how
/// segments are laid out in txt; and what the JSON calls the language.
struct WriterOptions {
  std::optional<int> max_line_width{};      // characters a line; none: 1000
  std::optional<int> max_line_count{};      // lines a subtitle; with max_line_width, subtitles cross segments
  std::optional<int> max_words_per_line{};  // words a subtitle; none: 1000
  bool highlight_words = false;             // one subtitle per word, the word underlined
  /// In txt, segments are running text in paragraphs, of which each ends at a pause of so many seconds or where the
  /// speaker changes. None: a line for each segment.
  std::optional<double> paragraphs{};
  /// As it was requested, "German", which is what the reference writes. Its code otherwise, and where it is another
  /// one.
  std::optional<std::string> language{};
};

/// The content of the output file, byte for byte what openai-whisper 20250625 (utils.py) writes for equal segments.
/// RTTM is not among them (Fault::unsupported): turns are no part of a transcript.
/// Subtitles of a segment that starts or ends before 0 or at no finite time are an error, as there.
Result<std::string> format_transcript(const Transcript& transcript, Format format, const WriterOptions& options = {});

}  // namespace tutti
