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
constexpr double kSecondsPerWord = 0.3;    // where nothing else says how long one lasts
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
    words[i].was_heard = true;
    words[i].start = heard[*places[i]].start;
    words[i].end = heard[*places[i]].end;
  }
}

/// Words that were not heard lie evenly between those that were.
void fill_in(std::vector<SaidWord>& words) {
  for (std::size_t first = 0; first < words.size(); ++first) {
    if (words[first].was_heard) continue;
    std::size_t next = first;
    while (next < words.size() && !words[next].was_heard) ++next;
    const auto count = static_cast<double>(next - first);
    const double usual = count * kSecondsPerWord;
    double start = first > 0 ? words[first - 1].end : 0;
    double end = next < words.size() ? words[next].start : start + usual;
    if (first == 0) start = std::max(0.0, end - usual);
    end = std::max(start, end);
    for (std::size_t i = first; i < next; ++i) {
      words[i].start = start + (end - start) * static_cast<double>(i - first) / count;
      words[i].end = start + (end - start) * static_cast<double>(i - first + 1) / count;
    }
    first = next;
  }
}

void add_sentence(std::span<const SaidWord> words, SpreadText& spread) {
  if (words.size() > kLongSentence) {
    std::size_t cut = words.size() / 2;
    const auto pause = [&](std::size_t at) { return words[at].start - words[at - 1].end; };
    for (std::size_t at = words.size() / 4; at <= words.size() * 3 / 4; ++at)
      if (pause(at) > pause(cut)) cut = at;
    add_sentence(words.first(cut), spread);
    return add_sentence(words.subspan(cut), spread);
  }
  Segment segment;
  segment.start = words.front().start;
  segment.end = words.back().end;
  for (const auto& word : words) segment.text += (segment.text.empty() ? "" : " ") + word.text;
  const bool heard = std::ranges::any_of(words, &SaidWord::was_heard);
  (heard ? spread.segments : spread.unheard).push_back(std::move(segment));
}

}  // namespace

SpreadText spread_text(std::string_view text, std::span<const Word> heard) {
  auto words = words_of(text);
  take_times(words, heard);
  fill_in(words);
  SpreadText spread;
  for (std::size_t first = 0; first < words.size();) {
    std::size_t next = first + 1;
    while (next < words.size() && !words[next - 1].ends_sentence) ++next;
    add_sentence(std::span(words).subspan(first, next - first), spread);
    first = next;
  }
  return spread;
}

}  // namespace tutti
