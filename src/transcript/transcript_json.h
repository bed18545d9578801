#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "transcript/transcript.h"

namespace tutti {

/// The transcript as Python's json.dump writes openai-whisper's result: one line, ASCII, keys in its order, "words"
/// where the transcript has word times and on segments that were cleared. `called`: as WriterOptions::language.
std::string transcript_json(const Transcript& transcript, const std::optional<std::string>& called = {});

/// Reads what transcript_json writes, and its relatives: openai-whisper's and faster-whisper's JSON, OpenAI's
/// verbose_json, whisperX (word "score", words without times, no "text" at the top). Fields that only statistics need
/// may be missing; "segments" with "start", "end" and "text" may not. Errors name the path in the document.
Result<Transcript> read_transcript_json(std::string_view json);

/// The same of a transcript whose segments may lack times, as some programs leave them where they could not align one:
/// a start or an end that is missing, null or below zero is NaN. tidy_transcript fills it in.
Result<Transcript> read_untidy_transcript_json(std::string_view json);

}  // namespace tutti
