#include "text/word_split.h"

#include <algorithm>
#include <array>

#include "text/code_points.h"
#include "text/utf8.h"

namespace tutti {
namespace {

using Ids = std::span<const std::int32_t>;

/// The shortest runs of tokens that are whole code points. A run that holds U+FFFD is whole where the text itself has
/// one at that position: then the model wrote it, or its bytes belong together nowhere.
std::vector<SpelledWord> split_at_code_points(const Tokenizer& tokenizer, Ids ids) {
  const std::u32string all = to_code_points(tokenizer.decode_with_timestamps(ids));
  const auto is_broken_in_all = [&](std::size_t at) { return at < all.size() && all[at] == CodePoint::kReplacement; };
  std::vector<SpelledWord> words;
  std::size_t first = 0;   // token the run begins with
  std::size_t before = 0;  // code points before it
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Ids run = ids.subspan(first, i + 1 - first);
    std::string text = tokenizer.decode_with_timestamps(run);
    const std::u32string points = to_code_points(text);
    const std::size_t broken = points.find(CodePoint::kReplacement);
    if (broken != std::u32string::npos && !is_broken_in_all(before + broken)) continue;
    words.push_back({std::move(text), {run.begin(), run.end()}});
    first = i + 1;
    before += points.size();
  }
  return words;
}

/// `subword.strip() in string.punctuation`: a run of that string, and so also nothing.
bool is_punctuation(std::string_view text) {
  static constexpr std::u32string_view kPunctuation = U"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
  const std::u32string points = to_code_points(text);
  std::u32string_view bare = points;
  while (!bare.empty() && is_space(bare.front())) bare.remove_prefix(1);
  while (!bare.empty() && is_space(bare.back())) bare.remove_suffix(1);
  return kPunctuation.find(bare) != std::u32string_view::npos;
}

std::vector<SpelledWord> joined_between_spaces(std::vector<SpelledWord> parts, std::int32_t eot) {
  std::vector<SpelledWord> words;
  for (SpelledWord& part : parts) {
    const bool special = part.ids.front() >= eot;
    if (words.empty() || special || part.text.starts_with(' ') || is_punctuation(part.text)) {
      words.push_back(std::move(part));
    } else {
      words.back().text += part.text;
      words.back().ids.insert(words.back().ids.end(), part.ids.begin(), part.ids.end());
    }
  }
  return words;
}

}  // namespace

bool is_written_without_spaces(std::string_view language) {
  static constexpr std::array<std::string_view, 6> kLanguages{"zh", "ja", "th", "lo", "my", "yue"};
  return std::find(kLanguages.begin(), kLanguages.end(), language) != kLanguages.end();
}

std::vector<SpelledWord> split_to_words(const Tokenizer& tokenizer, Ids ids, std::string_view language) {
  std::vector<SpelledWord> parts = split_at_code_points(tokenizer, ids);
  if (tokenizer.special().multilingual && is_written_without_spaces(language)) return parts;
  return joined_between_spaces(std::move(parts), tokenizer.special().eot);
}

}  // namespace tutti
