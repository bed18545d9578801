#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tutti {

/// One word with its time, in seconds from the start of the recording.
struct Word {
  std::string word;  // with its leading space and closing punctuation
  double start = 0;
  double end = 0;
  double probability = 0;
};

/// One token of a text. Several may spell one character together, so it has bytes.
struct TextToken {
  std::string bytes;
  double logprob = 0;  // un-tempered, after the rules of decoding
};

/// A stretch of text between two timestamps; the fields and their names are openai-whisper's.
struct Segment {
  std::int64_t id = 0;
  std::int64_t seek = 0;  // first mel frame of the window it came from (100 a second)
  double start = 0;       // seconds
  double end = 0;
  std::string text{};
  std::vector<std::int32_t> tokens{};
  double temperature = 0;
  double avg_logprob = 0;
  double compression_ratio = 0;
  double no_speech_prob = 0;
  std::vector<Word> words{};             // empty unless word times were requested
  std::vector<TextToken> text_tokens{};  // those that spell `text`, where their log-probabilities were requested
  std::string speaker{};                 // "SPEAKER_01", of transcripts that others have diarized; empty: not known
};

struct Transcript {
  std::string text;
  std::vector<Segment> segments;
  std::string language;  // code, "en"
};

/// Without text or length, and so emptied by the long-form rules; it keeps its index and times.
bool is_cleared(const Segment& segment);

/// Whether some segment has text.
bool has_text(const Transcript& transcript);

/// Does openai-whisper see word times in it? Where they were requested, and, by a quirk of its own, where every segment
/// was cleared: then its subtitles show nothing.
bool has_word_times(const Transcript& transcript);

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
