#include "transcript/transcript.h"

#include <algorithm>

#include "text/languages.h"
#include "transcript/like_python.h"

namespace tutti {

bool is_cleared(const Segment& segment) {
  return segment.text.empty() && segment.tokens.empty();
}

bool has_text(const Transcript& transcript) {
  return std::ranges::any_of(transcript.segments, [](const Segment& segment) {
    return segment.text.find_first_not_of(" \t\r\n") != std::string::npos;
  });
}

bool has_word_times(const Transcript& transcript) {
  const auto& segments = transcript.segments;
  if (std::any_of(segments.begin(), segments.end(), [](const Segment& segment) { return !segment.words.empty(); }))
    return true;
  return std::all_of(segments.begin(), segments.end(), is_cleared);
}

namespace {

/// All words of a segment are its speaker's.
void append_words(std::string& out, const std::vector<Word>& words, const std::string& speaker) {
  out += "[";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Word& word = words[i];
    out += i > 0 ? ", " : "";
    out += "{\"word\": " + json_text(word.word) + ", \"start\": " + float_text(word.start) +
           ", \"end\": " + float_text(word.end) + ", \"probability\": " + float_text(word.probability);
    out += speaker.empty() ? "}" : ", \"speaker\": " + json_text(speaker) + "}";
  }
  out += "]";
}

void append_tokens(std::string& out, const std::vector<std::int32_t>& tokens) {
  out += "[";
  for (std::size_t i = 0; i < tokens.size(); ++i) out += (i > 0 ? ", " : "") + std::to_string(tokens[i]);
  out += "]";
}

void append_segment(std::string& out, const Segment& segment, bool word_times) {
  out += "{\"id\": " + std::to_string(segment.id) + ", \"seek\": " + std::to_string(segment.seek);
  out += ", \"start\": " + float_text(segment.start) + ", \"end\": " + float_text(segment.end);
  out += ", \"text\": " + json_text(segment.text) + ", \"tokens\": ";
  append_tokens(out, segment.tokens);
  out += ", \"temperature\": " + float_text(segment.temperature);
  out += ", \"avg_logprob\": " + float_text(segment.avg_logprob);
  out += ", \"compression_ratio\": " + float_text(segment.compression_ratio);
  out += ", \"no_speech_prob\": " + float_text(segment.no_speech_prob);
  if (!segment.speaker.empty()) out += ", \"speaker\": " + json_text(segment.speaker);
  if (word_times || is_cleared(segment)) {
    out += ", \"words\": ";
    append_words(out, segment.words, segment.speaker);
  }
  out += "}";
}

}  // namespace

std::string transcript_json(const Transcript& transcript, const std::optional<std::string>& called) {
  const bool same = called && to_language_code(*called) == transcript.language;
  std::string out = "{\"text\": " + json_text(transcript.text) + ", \"segments\": [";
  const bool word_times = has_word_times(transcript);
  for (std::size_t i = 0; i < transcript.segments.size(); ++i) {
    out += i > 0 ? ", " : "";
    append_segment(out, transcript.segments[i], word_times);
  }
  return out + "], \"language\": " + json_text(same ? *called : transcript.language) + "}";
}

}  // namespace tutti
