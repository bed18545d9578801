#include <algorithm>
#include <string>

#include "base/json.h"
#include "base/strings.h"
#include "diarize/rttm.h"
#include "diarize/speaker_names.h"
#include "text/code_points.h"
#include "text/utf8.h"
#include "transcript/like_python.h"
#include "transcript/subtitles.h"

namespace tutti {
namespace {

constexpr std::string_view kMark = "<u>", kMarkEnd = "</u>";

/// The characters alone, as far as no layout changes them.
std::string without_layout(std::string_view text) {
  std::u32string kept;
  for (const char32_t value : to_code_points(replaced(text, "-->", "->")))
    if (!is_space(value)) kept += value;
  return to_utf8(kept);
}

std::string_view without_speaker(std::string_view line, const std::vector<std::string>& speakers) {
  for (const std::string& speaker : speakers)
    if (const std::string prefix = speaker_prefix(speaker); line.starts_with(prefix)) return line.substr(prefix.size());
  return line;
}

/// What is highlighted, word by word; without highlights everything.
std::string highlighted(const std::string& text) {
  std::string marked;
  for (auto at = text.find(kMark); at != text.npos; at = text.find(kMark, at)) {
    at += kMark.size();
    const auto end = std::min(text.find(kMarkEnd, at), text.size());
    marked += text.substr(at, end - at);
  }
  return marked.empty() ? text : marked;
}

std::string text_of_lines(std::string_view content, const std::vector<std::string>& speakers) {
  std::string text;
  for (const std::string_view line : split(content, '\n')) text += without_speaker(line, speakers);
  return text;
}

std::string text_of_cues(std::string_view content, const std::vector<std::string>& speakers) {
  enum class Line { frame, first, further } next = Line::frame;
  std::string text;
  for (const std::string_view line : split(content, '\n')) {
    if (next == Line::frame) {
      if (line.find("-->") != line.npos) next = Line::first;
      continue;
    }
    text += next == Line::first ? without_speaker(line, speakers) : line;
    next = line.empty() ? Line::frame : Line::further;
  }
  return highlighted(text);
}

std::string text_of_segments(const Transcript& transcript) {
  return joined(transcript.segments, "", [](const Segment& segment) { return segment.text; });
}

std::string text_of_words(const Transcript& transcript) {
  if (!has_word_times(transcript)) return text_of_segments(transcript);
  return joined(transcript.segments, "", [](const Segment& segment) { return joined(segment.words, "", &Word::word); });
}

/// Whether a segment's speaker has a turn in it, if anyone has.
bool goes_with(const Segment& segment, const std::vector<SpeakerTurn>& turns) {
  bool has_turn = false, has_own = false;
  for (const SpeakerTurn& turn : turns)
    if (turn.start < segment.end && segment.start < turn.end) {
      has_turn = true;
      has_own |= turn.speaker == rttm_field(segment.speaker);
    }
  return has_own || !has_turn;
}

/// RTTM of others looks alike: times and speakers must go with the transcript's. A word at an edge may be an exception.
bool are_own_turns(std::string_view content, const Transcript& transcript, const std::vector<std::string>& speakers) {
  constexpr std::size_t kExceptions = 10;  // one in so many segments
  const auto recordings = parse_rttm(content, "");
  if (!recordings || recordings->size() != 1) return false;
  const auto& [name, turns] = *recordings->begin();
  if (rttm_text(name, turns) != content) return false;
  const auto is_known = [&](const SpeakerTurn& turn) {
    return std::ranges::find(speakers, turn.speaker, rttm_field) != speakers.end();
  };
  if (!std::ranges::all_of(turns, is_known)) return false;
  // Its speakers may have the new names already, and the transcript the old ones: then only the names are compared.
  const auto is_named = [&](const Segment& segment) {
    return std::ranges::find(turns, rttm_field(segment.speaker), &SpeakerTurn::speaker) != turns.end();
  };
  std::size_t named = 0, others = 0;
  for (const Segment& segment : transcript.segments) {
    if (!is_named(segment)) continue;
    ++named;
    others += goes_with(segment, turns) ? 0 : 1;
  }
  return others * kExceptions <= named;
}

/// As a server answers with diarized_json; OpenAI's numbers have leading zeros.
bool is_own_answer(const std::string& content) {
  const auto json = nlohmann::ordered_json::parse(content, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("task") || !json.contains("segments") || !json["segments"].is_array())
    return false;
  if (trimmed(content) != json_line(json)) return false;
  return std::ranges::all_of(json["segments"], [](const auto& segment) {
    if (!segment.is_object() || segment.value("type", "") != "transcript.text.segment") return false;
    const std::string id = segment.value("id", ""), number = id.substr(std::min<std::size_t>(4, id.size()));
    return id.starts_with("seg_") && is_all_digits(number) && (number == "0" || number[0] != '0');
  });
}

}  // namespace

bool is_own_output(std::string_view content, Format format, const Transcript& transcript,
                   const std::vector<std::string>& speakers) {
  switch (format) {
    case Format::txt:
      return without_layout(text_of_lines(content, speakers)) == without_layout(text_of_segments(transcript));
    case Format::vtt:
    case Format::srt:
      return without_layout(text_of_cues(content, speakers)) == without_layout(text_of_words(transcript));
    case Format::rttm: return are_own_turns(content, transcript, speakers);
    case Format::json: return content == transcript_json(transcript) || is_own_answer(std::string(content));
    case Format::tsv: break;
  }
  return false;
}

}  // namespace tutti
