#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

/// One word with its time, in seconds from the start of the recording.
struct Word {
  std::string word;  // with its leading space and closing punctuation
  double start = 0;
  double end = 0;
  double probability = 0;
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
  std::vector<Word> words{};  // empty unless word times were requested
  std::string speaker{};      // "SPEAKER_01", of transcripts that others have diarized; empty: not known
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

}  // namespace tutti
