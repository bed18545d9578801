#include "diarize/word_speakers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "diarize/speakers.h"

namespace tutti {
namespace {

constexpr double kTouching = 0.01;  // seconds between segments of one turn, at most

bool is_blank(const Segment& segment) {
  return segment.text.find_first_not_of(" \t\r\n") == std::string::npos;
}

/// Words [begin, end) of a segment as one of their own. `byte`: where its text begins in the segment's.
Segment part_of(const Segment& whole, std::size_t begin, std::size_t end) {
  Segment part = whole;
  part.words.assign(whole.words.begin() + static_cast<std::ptrdiff_t>(begin),
                    whole.words.begin() + static_cast<std::ptrdiff_t>(end));
  part.tokens.clear();
  part.text_tokens.clear();
  part.text.clear();
  for (const Word& word : part.words) part.text += word.word;
  if (begin > 0) part.start = part.words.front().start;
  if (end < whole.words.size()) part.end = part.words.back().end;
  return part;
}

/// Each token goes to the part that its first byte belongs to; timestamps stay with what is before them.
void share_tokens(const Segment& whole, std::vector<Segment>& parts, const TokenBytes& bytes_of) {
  std::size_t index = 0, left = parts.front().text.size();
  const auto part_for = [&](std::size_t bytes) -> Segment& {
    while (left == 0 && bytes > 0 && index + 1 < parts.size()) left = parts[++index].text.size();
    Segment& part = parts[index];
    for (std::size_t rest = bytes; rest > 0;) {
      const std::size_t taken = std::min(rest, left);
      left -= taken;
      rest -= taken;
      if (left > 0 || rest == 0 || index + 1 == parts.size()) break;
      left = parts[++index].text.size();
    }
    return part;
  };
  for (const std::int32_t token : whole.tokens) part_for(bytes_of(token).size()).tokens.push_back(token);
  index = 0;
  left = parts.front().text.size();
  for (const TextToken& token : whole.text_tokens) part_for(token.bytes.size()).text_tokens.push_back(token);
}

/// Whether what Whisper has as a word is the end of the one before, as "-year" and "'s" are.
bool continues_word(std::string_view word) {
  return word.starts_with('-') || word.starts_with('\'') || word.starts_with("’");
}

std::vector<std::string> speakers_of_words(const std::vector<Word>& words, const std::vector<SpeakerTurn>& turns) {
  std::vector<std::string> speakers;
  for (std::size_t begin = 0; begin < words.size(); begin = speakers.size()) {
    std::size_t end = begin + 1;
    while (end < words.size() && continues_word(words[end].word)) ++end;
    speakers.resize(end, speaker_at(turns, words[begin].start, words[end - 1].end));
  }
  return speakers;
}

void append_split(Segment segment, const std::vector<SpeakerTurn>& turns, const TokenBytes& bytes_of,
                  std::vector<Segment>& out) {
  const auto speakers = speakers_of_words(segment.words, turns);
  std::vector<Segment> parts;
  for (std::size_t begin = 0; begin < speakers.size();) {
    std::size_t end = begin + 1;
    while (end < speakers.size() && speakers[end] == speakers[begin]) ++end;
    parts.push_back(part_of(segment, begin, end));
    parts.back().speaker = speakers[begin];
    begin = end;
  }
  if (parts.size() <= 1) {
    if (!is_blank(segment) || !parts.empty())
      segment.speaker = parts.empty() ? speaker_at(turns, segment.start, segment.end) : parts.front().speaker;
    out.push_back(std::move(segment));
    return;
  }
  share_tokens(segment, parts, bytes_of);
  for (Segment& part : parts) out.push_back(std::move(part));
}

}  // namespace

std::string speaker_at(const std::vector<SpeakerTurn>& turns, double start, double end) {
  std::map<std::string, double> overlaps;
  const SpeakerTurn* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const SpeakerTurn& turn : turns) {
    const double overlap = std::min(end, turn.end) - std::max(start, turn.start);
    if (overlap > 0) overlaps[turn.speaker] += overlap;
    if (-overlap >= least) continue;
    least = -overlap;
    nearest = &turn;
  }
  if (!overlaps.empty())
    return std::ranges::max_element(overlaps, {}, [](const auto& one) { return one.second; })->first;
  return nearest ? nearest->speaker : speaker_label(0);
}

void assign_speakers(Transcript& transcript, const std::vector<SpeakerTurn>& turns, const TokenBytes& bytes_of) {
  std::vector<Segment> segments;
  for (Segment& segment : transcript.segments) append_split(std::move(segment), turns, bytes_of, segments);
  for (std::size_t i = 0; i < segments.size(); ++i) segments[i].id = static_cast<std::int64_t>(i);
  transcript.segments = std::move(segments);
}

std::vector<SpeakerTurn> turns_of(const Transcript& transcript) {
  std::vector<SpeakerTurn> turns;
  for (const Segment& segment : transcript.segments) {
    if (segment.speaker.empty() || !(segment.end > segment.start)) continue;
    const bool goes_on =
        !turns.empty() && turns.back().speaker == segment.speaker && segment.start - turns.back().end <= kTouching;
    if (goes_on)
      turns.back().end = std::max(turns.back().end, segment.end);
    else
      turns.push_back({.start = segment.start, .end = segment.end, .speaker = segment.speaker});
  }
  return turns;
}

}  // namespace tutti
