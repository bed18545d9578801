#include "diarize/speaker_words.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/json.h"
#include "diarize/assignment.h"
#include "text/code_points.h"
#include "text/error_rate.h"
#include "text/utf8.h"
#include "transcript/transcript.h"

namespace tutti {
namespace {

using Json = nlohmann::json;

/// A name, or a number as some programs have it; empty: there is none.
std::string speaker_in(const Json& object) {
  const auto found = object.is_object() ? object.find("speaker") : object.end();
  if (found == object.end()) return {};
  if (found->is_string()) return found->get<std::string>();
  return found->is_number() ? found->dump() : std::string();
}

Result<std::vector<SpeakerText>> texts_of_turns(const Json& turns, std::string_view file) {
  std::vector<SpeakerText> texts;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const Json& turn = turns[i];
    const auto lacks = [&](const char* what) {
      return fail(Fault::corrupt,
                  std::string(file) + ", turns[" + std::to_string(i) + "]: expected " + what + ", found nothing");
    };
    const std::string speaker = speaker_in(turn);
    if (speaker.empty()) return lacks("\"speaker\"");
    if (!turn.contains("start") || !turn["start"].is_number()) return lacks("\"start\" in seconds");
    if (!turn.contains("text") || !turn["text"].is_string()) return lacks("\"text\", which words are compared with");
    texts.push_back({turn["start"].get<double>(), speaker, turn["text"].get<std::string>()});
  }
  return texts;
}

/// The speaker of each word of a segment, where the document has any there.
std::vector<std::string> speakers_of_words(const Json& document, std::size_t segment, std::size_t words) {
  const Json& list = document["segments"][segment].value("words", Json::array());
  std::vector<std::string> speakers;
  for (std::size_t i = 0; i < words && i < list.size(); ++i) speakers.push_back(speaker_in(list[i]));
  speakers.resize(words);
  return speakers;
}

/// A segment's text, in parts where its words have different speakers. A word without one has that of the segment.
std::vector<SpeakerText> texts_of(const Segment& segment, const std::vector<std::string>& word_speakers) {
  const bool has_speakers = std::ranges::any_of(word_speakers, [](const auto& speaker) { return !speaker.empty(); });
  if (!has_speakers) return {{segment.start, segment.speaker, segment.text}};
  std::vector<SpeakerText> texts;
  for (std::size_t i = 0; i < segment.words.size(); ++i) {
    const std::string& speaker = word_speakers[i].empty() ? segment.speaker : word_speakers[i];
    if (texts.empty() || texts.back().speaker != speaker) texts.push_back({segment.words[i].start, speaker, ""});
    texts.back().text += segment.words[i].word;
  }
  return texts;
}

Result<std::vector<SpeakerText>> texts_of_segments(const std::string& json, const Json& document,
                                                   std::string_view file) {
  const auto transcript = read_untidy_transcript_json(json);
  if (!transcript) return fail_in(file, transcript.error());
  std::vector<SpeakerText> all;
  for (std::size_t i = 0; i < transcript->segments.size(); ++i) {
    const Segment& segment = transcript->segments[i];
    for (auto& text : texts_of(segment, speakers_of_words(document, i, segment.words.size()))) {
      if (text.text.find_first_not_of(' ') == std::string::npos) continue;
      if (text.speaker.empty())
        return fail(Fault::corrupt, std::string(file) + ", segments[" + std::to_string(i) +
                                        "]: expected \"speaker\" in the segment or its words, found none");
      all.push_back(std::move(text));
    }
  }
  return all;
}

/// All words of one side in order, and the speaker of each. Equal words and equal speakers are equal numbers.
struct SideWords {
  std::vector<std::int32_t> words{};
  std::vector<std::size_t> speakers{};
  std::size_t speaker_count = 0;

  std::vector<std::int32_t> words_of(std::size_t speaker) const {
    std::vector<std::int32_t> own;
    for (std::size_t i = 0; i < words.size(); ++i)
      if (speakers[i] == speaker) own.push_back(words[i]);
    return own;
  }
};

class Numbering {
 public:
  SideWords side(std::span<const SpeakerText> texts) {
    std::vector<const SpeakerText*> in_order;
    for (const auto& text : texts) in_order.push_back(&text);
    std::ranges::stable_sort(in_order, {}, [](const SpeakerText* text) { return text->start; });
    SideWords side;
    std::unordered_map<std::string, std::size_t> speakers;
    for (const SpeakerText* text : in_order) {
      const std::size_t speaker = speakers.emplace(text->speaker, speakers.size()).first->second;
      const std::u32string code_points = to_code_points(text->text);
      for (const auto word : split_at_spaces(code_points)) {
        side.words.push_back(number_of(word));
        side.speakers.push_back(speaker);
      }
    }
    side.speaker_count = speakers.size();
    return side;
  }

 private:
  std::int32_t number_of(std::u32string_view word) {
    return numbers_.emplace(word, static_cast<std::int32_t>(numbers_.size())).first->second;
  }

  std::unordered_map<std::u32string, std::int32_t> numbers_;
};

std::vector<std::vector<std::int32_t>> words_by_speaker(const SideWords& side) {
  std::vector<std::vector<std::int32_t>> all;
  for (std::size_t speaker = 0; speaker < side.speaker_count; ++speaker) all.push_back(side.words_of(speaker));
  return all;
}

/// The least errors of all pairings of speakers. A speaker without a partner has errors only.
std::int64_t least_errors(const SideWords& reference, const SideWords& hypothesis) {
  const auto rows = words_by_speaker(reference), columns = words_by_speaker(hypothesis);
  ScoreTable saved(rows.size(), columns.size());
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t column = 0; column < columns.size(); ++column)
      saved.at(row, column) = static_cast<double>(static_cast<std::int64_t>(rows[row].size() + columns[column].size()) -
                                                  edit_distance(rows[row], columns[column]));
  auto errors = static_cast<std::int64_t>(reference.words.size() + hypothesis.words.size());
  const auto pairs = best_pairs(saved);
  for (std::size_t row = 0; row < pairs.size(); ++row)
    if (pairs[row]) errors -= static_cast<std::int64_t>(saved.at(row, *pairs[row]));
  return errors;
}

/// Positions of words of reference and hypothesis that belong together: equal ones, and between two of these
/// the others in their order.
std::vector<std::pair<std::size_t, std::size_t>> aligned_words(const SideWords& reference,
                                                               const SideWords& hypothesis) {
  auto matches = matching_positions(reference.words, hypothesis.words);
  matches.emplace_back(hypothesis.words.size());  // the end matches the end
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::size_t from = 0, other = 0;
  for (std::size_t at = 0; at < matches.size(); ++at) {
    if (!matches[at]) continue;
    for (; from < at && other < *matches[at]; ++from, ++other) pairs.emplace_back(from, other);
    if (at < reference.words.size()) pairs.emplace_back(at, *matches[at]);
    from = at + 1;
    other = *matches[at] + 1;
  }
  return pairs;
}

}  // namespace

double SpeakerWordErrors::cp_wer() const {
  if (words > 0) return static_cast<double>(word_errors) / static_cast<double>(words);
  return static_cast<double>(word_errors);
}

double SpeakerWordErrors::wder() const {
  return aligned > 0 ? static_cast<double>(misplaced) / static_cast<double>(aligned) : 0;
}

Result<std::vector<SpeakerText>> read_speaker_texts(const std::string& json, std::string_view file) {
  const Json document = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (document.is_object() && document.contains("turns") && document["turns"].is_array())
    return texts_of_turns(document["turns"], file);
  return texts_of_segments(json, document, file);
}

SpeakerWordErrors speaker_word_errors(std::span<const SpeakerText> reference, std::span<const SpeakerText> hypothesis) {
  Numbering numbering;
  const SideWords expected = numbering.side(reference), found = numbering.side(hypothesis);
  const auto pairs = aligned_words(expected, found);
  ScoreTable common(expected.speaker_count, found.speaker_count);
  for (const auto& [at, other] : pairs) common.at(expected.speakers[at], found.speakers[other]) += 1;
  const auto partners = best_pairs(common);
  SpeakerWordErrors errors{.words = static_cast<std::int64_t>(expected.words.size()),
                           .word_errors = least_errors(expected, found),
                           .aligned = static_cast<std::int64_t>(pairs.size()),
                           .reference_speakers = expected.speaker_count,
                           .hypothesis_speakers = found.speaker_count};
  for (const auto& [at, other] : pairs)
    errors.misplaced += partners[expected.speakers[at]] == found.speakers[other] ? 0 : 1;
  return errors;
}

}  // namespace tutti
