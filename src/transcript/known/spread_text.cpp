#include "transcript/known/spread_text.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "text/error_rate/matching.h"
#include "text/normaliser.h"
#include "transcript/like_python.h"

namespace tutti {
namespace {

constexpr std::size_t kLongSentence = 20;  // words
constexpr double kLongestWord = 2;         // seconds: what lasts longer was heard amiss
constexpr double kSecondsPerWord = 0.5;    // where nothing else says how long one lasts
constexpr std::string_view kEnds[]{".", "!", "?", "…", "。", "！", "？"};

struct SaidWord {
  std::string text;
  bool ends_sentence = false;
  bool was_heard = false;
  double start = 0;
  double end = 0;
};

std::vector<SaidWord> words_of(std::string_view text) {
  std::vector<SaidWord> words;
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
    const std::string said(strip(normalise_basic(word)));
    return numbers_.try_emplace(said, static_cast<std::int32_t>(numbers_.size())).first->second;
  }

 private:
  std::map<std::string, std::int32_t> numbers_{};
};

void take_times(std::vector<SaidWord>& words, std::span<const Word> heard) {
  Numbers numbers;
  std::vector<std::int32_t> said, found;
  for (const auto& word : words) said.push_back(numbers.of(word.text));
  for (const auto& word : heard) found.push_back(numbers.of(word.word));
  const auto places = matching_places(said, found);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!places[i]) continue;
    const Word& same = heard[*places[i]];
    if (same.end - same.start > kLongestWord) continue;
    words[i].was_heard = true;
    words[i].start = same.start;
    words[i].end = same.end;
  }
}

/// Pauses are looked for between heard words alone.
double pause_before(std::span<const SaidWord> words, std::size_t at) {
  return words[at].was_heard && words[at - 1].was_heard ? words[at].start - words[at - 1].end : 0;
}

/// From the first heard word to the last, with room for those around them.
void take_edges(std::span<const SaidWord> words, Segment& said) {
  const auto heard = [](const SaidWord& word) { return word.was_heard; };
  const auto first = std::ranges::find_if(words, heard);
  const auto last = std::find_if(words.rbegin(), words.rend(), heard);
  said.start = std::max(0.0, first->start - kSecondsPerWord * static_cast<double>(first - words.begin()));
  said.end = last->end + kSecondsPerWord * static_cast<double>(last - words.rbegin());
}

void add_sentence(std::span<const SaidWord> words, std::vector<SpreadSentence>& spread) {
  if (words.size() > kLongSentence) {
    std::size_t cut = words.size() / 2;
    for (std::size_t at = words.size() / 4; at <= words.size() * 3 / 4; ++at)
      if (pause_before(words, at) > pause_before(words, cut)) cut = at;
    add_sentence(words.first(cut), spread);
    return add_sentence(words.subspan(cut), spread);
  }
  SpreadSentence sentence;
  for (const auto& word : words) sentence.said.text += (sentence.said.text.empty() ? "" : " ") + word.text;
  const auto heard = std::ranges::count_if(words, &SaidWord::was_heard);
  sentence.is_sure = 2 * heard >= std::ssize(words);
  if (sentence.is_sure) take_edges(words, sentence.said);
  spread.push_back(std::move(sentence));
}

/// Sentences that were hardly heard lie evenly, by their length, between those that were.
void place_unsure(std::vector<SpreadSentence>& spread, double seconds) {
  for (std::size_t first = 0; first < spread.size(); ++first) {
    if (spread[first].is_sure) continue;
    std::size_t next = first;
    double letters = 0;
    for (; next < spread.size() && !spread[next].is_sure; ++next)
      letters += static_cast<double>(spread[next].said.text.size());
    double at = first > 0 ? spread[first - 1].said.end : 0;
    const double end = std::max(at, next < spread.size() ? spread[next].said.start : seconds);
    const double each = (end - at) / letters;
    for (std::size_t i = first; i < next; ++i) {
      spread[i].said.start = at;
      spread[i].said.end = at += each * static_cast<double>(spread[i].said.text.size());
    }
    first = next;
  }
}

}  // namespace

std::vector<SpreadSentence> spread_text(std::string_view text, std::span<const Word> heard, double seconds) {
  auto words = words_of(text);
  take_times(words, heard);
  std::vector<SpreadSentence> spread;
  for (std::size_t first = 0; first < words.size();) {
    std::size_t next = first + 1;
    while (next < words.size() && !words[next - 1].ends_sentence) ++next;
    add_sentence(std::span(words).subspan(first, next - first), spread);
    first = next;
  }
  place_unsure(spread, seconds);
  return spread;
}

}  // namespace tutti
