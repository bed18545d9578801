#include "transcript/reference_text/spread_text.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "text/error_rate.h"
#include "text/normaliser.h"
#include "transcript/like_python.h"

namespace tutti {
namespace {

constexpr std::size_t kLongSentence = 20;  // words
constexpr double kLongestWord = 2;         // seconds: what lasts longer was recognised wrongly
constexpr double kSecondsPerWord = 0.5;    // where nothing else shows how long one lasts
constexpr std::string_view kEnds[]{".", "!", "?", "…", "。", "！", "？"};

struct ReferenceWord {
  std::string text;
  bool ends_sentence = false;
  bool was_found = false;
  double start = 0;
  double end = 0;
};

std::vector<ReferenceWord> words_of(std::string_view text) {
  std::vector<ReferenceWord> words;
  std::string word;
  const auto finish = [&](bool line_ends) {
    if (!word.empty()) {
      const bool stops = std::ranges::any_of(kEnds, [&](std::string_view end) { return word.ends_with(end); });
      words.push_back({.text = std::exchange(word, {}), .ends_sentence = stops});
    }
    if (line_ends && !words.empty()) words.back().ends_sentence = true;
  };
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
      finish(c == '\n');
    else
      word += c;
  }
  finish(true);
  return words;
}

/// One number for all words that are read alike.
class Numbers {
 public:
  std::int32_t of(const std::string& word) {
    const std::string normalised(strip(normalise_basic(word)));
    return numbers_.try_emplace(normalised, static_cast<std::int32_t>(numbers_.size())).first->second;
  }

 private:
  std::map<std::string, std::int32_t> numbers_{};
};

void take_times(std::vector<ReferenceWord>& words, std::span<const Word> decoded) {
  Numbers numbers;
  std::vector<std::int32_t> wanted, found;
  for (const auto& word : words) wanted.push_back(numbers.of(word.text));
  for (const auto& word : decoded) found.push_back(numbers.of(word.word));
  const auto positions = matching_positions(wanted, found);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!positions[i]) continue;
    const Word& same = decoded[*positions[i]];
    if (same.end - same.start > kLongestWord) continue;
    words[i].was_found = true;
    words[i].start = same.start;
    words[i].end = same.end;
  }
}

/// Pauses are looked for between found words alone.
double pause_before(std::span<const ReferenceWord> words, std::size_t at) {
  return words[at].was_found && words[at - 1].was_found ? words[at].start - words[at - 1].end : 0;
}

/// From the first found word to the last, with time for those around them.
void take_edges(std::span<const ReferenceWord> words, Segment& segment) {
  const auto was_matched = [](const ReferenceWord& word) { return word.was_found; };
  const auto first = std::ranges::find_if(words, was_matched);
  const auto last = std::find_if(words.rbegin(), words.rend(), was_matched);
  segment.start = std::max(0.0, first->start - kSecondsPerWord * static_cast<double>(first - words.begin()));
  segment.end = last->end + kSecondsPerWord * static_cast<double>(last - words.rbegin());
}

void add_sentence(std::span<const ReferenceWord> words, std::vector<SpreadSentence>& spread) {
  if (words.size() > kLongSentence) {
    std::size_t cut = words.size() / 2;
    for (std::size_t at = words.size() / 4; at <= words.size() * 3 / 4; ++at)
      if (pause_before(words, at) > pause_before(words, cut)) cut = at;
    add_sentence(words.first(cut), spread);
    return add_sentence(words.subspan(cut), spread);
  }
  SpreadSentence sentence;
  for (const auto& word : words) sentence.segment.text += (sentence.segment.text.empty() ? "" : " ") + word.text;
  const auto matched = std::ranges::count_if(words, &ReferenceWord::was_found);
  sentence.is_sure = 2 * matched >= std::ssize(words);
  if (sentence.is_sure) take_edges(words, sentence.segment);
  spread.push_back(std::move(sentence));
}

/// Sentences with few found words are spread evenly, by their length, between those that were found.
void time_unsure(std::vector<SpreadSentence>& spread, double seconds) {
  for (std::size_t first = 0; first < spread.size(); ++first) {
    if (spread[first].is_sure) continue;
    std::size_t next = first;
    double letters = 0;
    for (; next < spread.size() && !spread[next].is_sure; ++next)
      letters += static_cast<double>(spread[next].segment.text.size());
    double at = first > 0 ? spread[first - 1].segment.end : 0;
    const double end = std::max(at, next < spread.size() ? spread[next].segment.start : seconds);
    const double each = (end - at) / letters;
    for (std::size_t i = first; i < next; ++i) {
      spread[i].segment.start = at;
      spread[i].segment.end = at += each * static_cast<double>(spread[i].segment.text.size());
    }
    first = next;
  }
}

}  // namespace

std::vector<SpreadSentence> spread_text(std::string_view text, std::span<const Word> decoded, double seconds) {
  auto words = words_of(text);
  take_times(words, decoded);
  std::vector<SpreadSentence> spread;
  for (std::size_t first = 0; first < words.size();) {
    std::size_t next = first + 1;
    while (next < words.size() && !words[next - 1].ends_sentence) ++next;
    add_sentence(std::span(words).subspan(first, next - first), spread);
    first = next;
  }
  time_unsure(spread, seconds);
  return spread;
}

}  // namespace tutti
