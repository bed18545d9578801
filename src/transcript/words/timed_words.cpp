#include "transcript/words/timed_words.h"

#include <numeric>

#include "text/word_split.h"
#include "transcript/like_python.h"

namespace tutti {
namespace {

constexpr double kStepsPerSecond = 50;

bool holds(std::string_view list, std::string_view sign) {
  return list.find(sign) != std::string_view::npos;
}

/// `giver` becomes empty; its time goes with it.
void give(TimedWord& giver, TimedWord& taker, std::string joined) {
  taker.text = std::move(joined);
  taker.tokens += giver.tokens;
  giver.text.clear();
  giver.tokens = 0;
}

double mean(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

std::vector<TimedWord> timed_words(const Tokenizer& tokenizer, std::span<const std::int32_t> text,
                                   const AlignAnswer& alignment, std::string_view language) {
  // Behind an end-of-text no word of the text can run on; the last word, which is it, is left out.
  std::vector<std::int32_t> closed(text.begin(), text.end());
  closed.push_back(tokenizer.special().eot);
  const std::vector<SpelledWord> spelled = split_to_words(tokenizer, closed, language);
  std::vector<TimedWord> words;
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < spelled.size(); ++i) {
    const std::size_t count = spelled[i].ids.size();
    words.push_back({.text = spelled[i].text,
                     .tokens = count,
                     .start = alignment.starts[at] / kStepsPerSecond,
                     .end = alignment.starts[at + count] / kStepsPerSecond,
                     .probability = mean(std::span(alignment.probabilities).subspan(at, count))});
    at += count;
  }
  return words;
}

void merge_punctuations(std::vector<TimedWord>& words, std::string_view prepended, std::string_view appended) {
  if (words.empty()) return;
  for (std::size_t behind = words.size() - 1, i = behind; i-- > 0;) {
    TimedWord& sign = words[i];
    if (sign.text.starts_with(' ') && holds(prepended, strip(sign.text))) {
      give(sign, words[behind], sign.text + words[behind].text);
    } else {
      behind = i;
    }
  }
  for (std::size_t before = 0, i = 1; i < words.size(); ++i) {
    TimedWord& sign = words[i];
    if (!words[before].text.ends_with(' ') && holds(appended, sign.text)) {
      give(sign, words[before], words[before].text + sign.text);
    } else {
      before = i;
    }
  }
}

}  // namespace tutti
