#include <algorithm>
#include <cstdint>
#include <map>

#include "base/strings.h"
#include "feed/labelled/labelled_files.h"
#include "text/code_points.h"
#include "text/utf8.h"

namespace tutti {
namespace {

/// Composed, with one space for all blanks between words and none around.
std::string plain_spelling(const std::string& label) {
  const std::u32string composed = nfc(to_code_points(label));
  std::u32string words;
  for (const std::u32string_view word : split_at_spaces(composed)) {
    if (!words.empty()) words += U' ';
    words += word;
  }
  return to_utf8(words);
}

/// Hyphens and apostrophes that print alike are one each.
char32_t plain_sign(char32_t c) {
  constexpr char32_t kHyphen = 0x2010, kNoBreakHyphen = 0x2011, kMinus = 0x2212, kApostrophe = 0x2019;
  if (c == kHyphen || c == kNoBreakHyphen || c == kMinus) return U'-';
  return c == kApostrophe ? U'\'' : c;
}

/// Equal for labels that are read alike.
std::u32string key_of(const std::string& label) {
  std::u32string key = case_folded(to_code_points(plain_spelling(label)));
  std::ranges::transform(key, key.begin(), plain_sign);
  return key;
}

/// The spelling for people, where blanks and the bytes of a character show.
std::string shown(const std::string& label) {
  const std::u32string composed = nfc(to_code_points(label));
  const bool hides_some =
      std::ranges::any_of(composed, [](char32_t c) { return case_folded(std::u32string_view(&c, 1)).empty(); });
  return "'" + label + "'" + (to_utf8(composed) == label ? "" : " (with decomposed characters)") +
         (hides_some ? " (with characters that do not show)" : "");
}

}  // namespace

std::vector<std::string> merge_like_labels(std::vector<LabelledFile>& files) {
  std::map<std::u32string, std::map<std::string, std::int64_t>> spellings;
  for (const auto& file : files) ++spellings[key_of(file.label)][file.label];
  std::map<std::string, std::string> merged;
  std::vector<std::string> sentences;
  for (const auto& [key, counts] : spellings) {
    if (counts.size() < 2) continue;
    const auto most = std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
    const std::string spelling = plain_spelling(most->first);
    for (const auto& [label, count] : counts) merged[label] = spelling;
    sentences.push_back(joined(counts, " and ",
                               [](const auto& one) {
                                 return shown(one.first) + " with " + std::to_string(one.second) +
                                        (one.second == 1 ? " file" : " files");
                               }) +
                        " are taken for one label, '" + spelling + "'");
  }
  for (auto& file : files)
    if (const auto at = merged.find(file.label); at != merged.end()) file.label = at->second;
  return sentences;
}

}  // namespace tutti
