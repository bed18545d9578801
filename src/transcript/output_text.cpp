#include "transcript/output_text.h"

#include "base/strings.h"
#include "transcript/transcript.h"

namespace tutti {
namespace {

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == text.npos;
}

/// Whether a line is a cue's number, the line of its times, or the heading.
bool is_frame(std::string_view line) {
  return line == "WEBVTT" || line.find("-->") != line.npos || line.find_first_not_of("0123456789") == line.npos;
}

/// A cue may be a number alone, and then is where another's number is: below the times.
bool subtitles_have_text(std::string_view content) {
  bool is_below_times = false;
  for (const std::string_view line : split(content, '\n')) {
    if (!is_blank(line) && (is_below_times || !is_frame(line))) return true;
    is_below_times = line.find("-->") != line.npos;
  }
  return false;
}

bool table_has_text(std::string_view content) {
  bool is_heading = true;
  for (const std::string_view line : split(content, '\n')) {
    const auto tab = line.rfind('\t');
    if (!is_heading && tab != line.npos && !is_blank(line.substr(tab + 1))) return true;
    is_heading = false;
  }
  return false;
}

}  // namespace

bool output_has_text(std::string_view content, Format format) {
  switch (format) {
    case Format::txt: return !is_blank(content);
    case Format::vtt:
    case Format::srt: return subtitles_have_text(content);
    case Format::rttm: return !is_blank(content);
    case Format::tsv: return table_has_text(content);
    case Format::json: {
      const auto transcript = read_transcript_json(content);
      return !transcript || has_text(*transcript);
    }
  }
  return true;
}

}  // namespace tutti
