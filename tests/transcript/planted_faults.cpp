#include "transcript/planted_faults.h"

#include <algorithm>
#include <map>

#include "base/files.h"
#include "base/json.h"
#include "text/error_rate.h"
#include "transcript/fallback.h"

namespace tutti {
namespace {

using Json = nlohmann::json;

/// Adds a clip at `at`; its end.
double append(PlantedRecording& recording, const Json& clip, double at) {
  Segment segment{.id = static_cast<std::int64_t>(recording.transcript.segments.size()),
                  .seek = static_cast<std::int64_t>(at / 25) * 2500,
                  .start = at,
                  .end = at + clip["seconds"].get<double>(),
                  .text = " " + clip["text"].get<std::string>()};
  segment.avg_logprob = -0.25;
  segment.compression_ratio = compression_ratio(segment.text);
  recording.transcript.segments.push_back(segment);
  for (const Json& span : clip["speech"])
    recording.speech.push_back({at + span[0].get<double>(), at + span[1].get<double>()});
  return segment.end;
}

/// Recordings of some minutes made of the clips, `per_recording` each.
std::vector<PlantedRecording> chained(const std::vector<Json>& clips, std::size_t per_recording) {
  std::vector<PlantedRecording> recordings;
  double at = 0;
  for (std::size_t i = 0; i < clips.size(); ++i) {
    if (i % per_recording == 0) {
      recordings.emplace_back();
      recordings.back().transcript.language = clips[i]["language"];
      at = 0.4;
    }
    at = append(recordings.back(), clips[i], at) + 0.3 + 0.2 * static_cast<double>(i % 5);
  }
  return recordings;
}

/// Windows in which every third word is wrong are faults that Whisper planted itself.
void mark_own_faults(PlantedRecording& recording, const Json& truth) {
  const auto& segments = recording.transcript.segments;
  for (std::size_t first = 0, last = 0; first < segments.size(); first = last) {
    std::string found, segment;
    for (last = first; last < segments.size() && segments[last].seek == segments[first].seek; ++last)
      found += segments[last].text;
    const double start = segments[first].start, end = segments[last - 1].end;
    for (const Json& phrase : truth)
      if (phrase["start"] < end && phrase["end"] > start) segment += " " + phrase["text"].get<std::string>();
    if (segment.empty() || error_rates(std::vector{segment}, std::vector{found})->wer() < 0.35) continue;
    recording.faults.push_back({DoubtKind::loop, start, end, true});
  }
}

PlantedRecording whisper_recording(const Json& clip) {
  PlantedRecording recording;
  recording.transcript.language = "en";
  for (const Json& s : clip["segments"])
    recording.transcript.segments.push_back({.id = static_cast<std::int64_t>(recording.transcript.segments.size()),
                                             .seek = s["seek"],
                                             .start = s["start"],
                                             .end = s["end"],
                                             .text = s["text"],
                                             .temperature = s["temperature"],
                                             .avg_logprob = s["avg_logprob"],
                                             .compression_ratio = s["compression_ratio"],
                                             .no_speech_prob = s["no_speech_prob"]});
  for (const Json& span : clip["speech"]) recording.speech.push_back({span[0], span[1]});
  mark_own_faults(recording, clip["truth"]);
  return recording;
}

bool is_touched(const PlantedRecording& recording, const Segment& segment) {
  return std::any_of(recording.faults.begin(), recording.faults.end(),
                     [&](const auto& fault) { return fault.start < segment.end + 3 && segment.start - 3 < fault.end; });
}

/// Moves everything behind `from` by `by` seconds.
void delay(PlantedRecording& recording, double from, double by) {
  for (Segment& segment : recording.transcript.segments) {
    if (segment.start < from) continue;
    segment.start += by;
    segment.end += by;
  }
  std::vector<SpeechSegment> speech;
  for (const SpeechSegment& span : recording.speech) {
    if (span.start < from) speech.push_back({span.start, std::min(span.end, from)});
    if (span.end > from) speech.push_back({std::max(span.start, from) + by, span.end + by});
  }
  recording.speech = std::move(speech);
  for (auto& fault : recording.faults) {
    if (fault.start < from) continue;
    fault.start += by;
    fault.end += by;
  }
}

std::string words_of(const std::string& text, std::size_t count) {
  std::size_t at = 1;
  for (std::size_t i = 0; i < count && at != std::string::npos; ++i) at = text.find(' ', at + 1);
  return text.substr(0, at);
}

/// A text of another recording.
std::string text_from(const std::vector<PlantedRecording>& others, Dice& dice, const std::string& unlike_language) {
  for (;;) {
    const auto& other = others[static_cast<std::size_t>(dice.between(0, static_cast<int>(others.size()) - 1))];
    const auto& segments = other.transcript.segments;
    if (other.transcript.language == unlike_language || segments.empty()) continue;
    return segments[static_cast<std::size_t>(dice.between(0, static_cast<int>(segments.size()) - 1))].text;
  }
}

/// Its first words, again and again.
std::string looped(const std::string& text, Dice& dice) {
  const std::string phrase = words_of(text, static_cast<std::size_t>(dice.between(1, 8)));
  std::string loop;
  for (int i = dice.between(8, 20); i > 0; --i) loop += phrase;
  return loop;
}

/// The window that `segment` is of gets numbers as a failed one has.
template <class Change>
PlantedRecording::Fault spoil_window(PlantedRecording& recording, const Segment& segment, DoubtKind kind,
                                     Change&& change) {
  PlantedRecording::Fault fault{kind, segment.start, segment.end};
  const std::int64_t seek = segment.seek;
  for (Segment& other : recording.transcript.segments) {
    if (other.seek != seek) continue;
    change(other);
    fault.start = std::min(fault.start, other.start);
    fault.end = std::max(fault.end, other.end);
  }
  return fault;
}

/// Silence behind the segment, and a text over it.
PlantedRecording::Fault invent(PlantedRecording& recording, std::size_t at, std::string text, double silence) {
  const Segment before = recording.transcript.segments[at];
  delay(recording, before.end, silence + 2);
  Segment made = before;
  made.start = before.end + 1;
  made.end = made.start + silence;
  made.text = std::move(text);
  recording.transcript.segments.insert(recording.transcript.segments.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                       made);
  return {DoubtKind::invented, made.start, made.end};
}

}  // namespace

RealRecordings::RealRecordings() {
  const auto text = read_file(std::string(TUTTI_SOURCE_DIR) + "/tests/data/transcript/doubt_recordings.json");
  const Json document = Json::parse(*text);
  std::map<std::string, std::vector<Json>> corpora;
  for (const Json& clip : document["clips"])
    corpora[clip["corpus"] == "leopard" ? clip["language"] : clip["corpus"]].push_back(clip);
  for (auto& [name, clips] : corpora)
    for (auto& recording : chained(clips, 10)) read_.push_back(std::move(recording));
  for (const Json& clip : document["whisper"]) whisper_.push_back(whisper_recording(clip));
}

bool plant(PlantedRecording& recording, DoubtKind kind, const std::vector<PlantedRecording>& others, Dice& dice) {
  auto& segments = recording.transcript.segments;
  if (segments.empty()) return false;
  const auto at = static_cast<std::size_t>(dice.between(0, static_cast<int>(segments.size()) - 1));
  Segment& segment = segments[at];
  if (segment.text.empty() || is_touched(recording, segment)) return false;
  PlantedRecording::Fault fault{kind, segment.start, segment.end};
  const std::string& language = recording.transcript.language;
  switch (kind) {
    case DoubtKind::loop: segment.text = looped(segment.text, dice); break;
    case DoubtKind::invented: {
      const bool farewell = dice.between(0, 2) == 0;
      fault = invent(recording, at, farewell ? " Thank you." : text_from(others, dice, ""), dice.between(3, 12));
      break;
    }
    case DoubtKind::improbable: {
      const double logprob = -1.0 - 0.05 * dice.between(1, 30);
      fault = spoil_window(recording, segment, kind, [&](Segment& s) { s.avg_logprob = logprob; });
      break;
    }
    case DoubtKind::language: segment.text = text_from(others, dice, language); break;
    case DoubtKind::gap:
      if (segment.end - segment.start < 5) return false;
      segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case DoubtKind::fast:
      for (int i = dice.between(3, 6); i > 0; --i) segment.text += text_from(others, dice, "");
      break;
    case DoubtKind::fallback: {
      const double temperature = 0.2 * dice.between(3, 5);
      fault = spoil_window(recording, segment, kind, [&](Segment& s) { s.temperature = temperature; });
      break;
    }
  }
  recording.faults.push_back(fault);
  return true;
}

void plant_decoy(PlantedRecording& recording, Dice& dice) {
  auto& segments = recording.transcript.segments;
  if (segments.empty()) return;
  const auto at = static_cast<std::size_t>(dice.between(0, static_cast<int>(segments.size()) - 1));
  Segment& segment = segments[at];
  const double length = segment.end - segment.start;
  const bool english = recording.transcript.language == "en";
  if (is_touched(recording, segment) || segment.text.empty() || segment.text.starts_with(" No,")) return;
  switch (dice.between(0, 5)) {
    case 0:
      if (english && length > 4) segment.text = " No, no, no, no, " + words_of(segment.text, 6);
      break;
    case 1:
      if (english && length < 3) segment.text = " Thank you for watching.";
      break;
    case 2: delay(recording, segment.end, dice.between(5, 60)); break;
    case 3:
      segment.start += 0.1 * dice.between(-5, 5);
      segment.end = std::max(segment.start + 0.1, segment.end + 0.1 * dice.between(-5, 5));
      break;
    case 4:
      segment.avg_logprob = -0.95;
      segment.no_speech_prob = 0.85;
      segment.temperature = 0.2 * dice.between(1, 2);
      break;
    case 5:
      if (length < 2.5 && segments.size() > 1) segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(at));
      break;
  }
}

}  // namespace tutti
