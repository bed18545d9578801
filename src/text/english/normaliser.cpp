#include "text/normaliser.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/json.h"
#include "base/strings.h"
#include "text/code_points.h"
#include "text/english/numbers.h"
#include "text/symbols.h"
#include "text/utf8.h"

namespace tutti {

/// data/english.json: British spellings and their American ones.
extern const std::string_view kEnglishSpellings;

namespace {

/// A phrase and what is written for it. Phrases end at a word border; those of whole words begin at one too.
struct Rewrite {
  std::u32string_view phrase;
  std::u32string_view written;
  bool whole_words = true;
};

/// In the order they are applied.
constexpr std::array kRewrites = {
    // common contractions
    Rewrite{U"won't", U"will not"},
    Rewrite{U"can't", U"can not"},
    Rewrite{U"let's", U"let us"},
    Rewrite{U"ain't", U"aint"},
    Rewrite{U"y'all", U"you all"},
    Rewrite{U"wanna", U"want to"},
    Rewrite{U"gotta", U"got to"},
    Rewrite{U"gonna", U"going to"},
    Rewrite{U"i'ma", U"i am going to"},
    Rewrite{U"imma", U"i am going to"},
    Rewrite{U"woulda", U"would have"},
    Rewrite{U"coulda", U"could have"},
    Rewrite{U"shoulda", U"should have"},
    Rewrite{U"ma'am", U"madam"},
    // titles
    Rewrite{U"mr", U"mister "},
    Rewrite{U"mrs", U"missus "},
    Rewrite{U"st", U"saint "},
    Rewrite{U"dr", U"doctor "},
    Rewrite{U"prof", U"professor "},
    Rewrite{U"capt", U"captain "},
    Rewrite{U"gov", U"governor "},
    Rewrite{U"ald", U"alderman "},
    Rewrite{U"gen", U"general "},
    Rewrite{U"sen", U"senator "},
    Rewrite{U"rep", U"representative "},
    Rewrite{U"pres", U"president "},
    Rewrite{U"rev", U"reverend "},
    Rewrite{U"hon", U"honorable "},
    Rewrite{U"asst", U"assistant "},
    Rewrite{U"assoc", U"associate "},
    Rewrite{U"lt", U"lieutenant "},
    Rewrite{U"col", U"colonel "},
    Rewrite{U"jr", U"junior "},
    Rewrite{U"sr", U"senior "},
    Rewrite{U"esq", U"esquire "},
    // perfect tenses
    Rewrite{U"'d been", U" had been", false},
    Rewrite{U"'s been", U" has been", false},
    Rewrite{U"'d gone", U" had gone", false},
    Rewrite{U"'s gone", U" has gone", false},
    Rewrite{U"'d done", U" had done", false},
    Rewrite{U"'s got", U" has got", false},
    // all other contractions
    Rewrite{U"n't", U" not", false},
    Rewrite{U"'re", U" are", false},
    Rewrite{U"'s", U" is", false},
    Rewrite{U"'d", U" would", false},
    Rewrite{U"'ll", U" will", false},
    Rewrite{U"'t", U" not", false},
    Rewrite{U"'ve", U" have", false},
    Rewrite{U"'m", U" am", false},
};

std::u32string rewrite(std::u32string text, const Rewrite& rule) {
  std::size_t found = text.find(rule.phrase);
  if (found == text.npos) return text;  // nearly always
  std::u32string out;
  std::size_t copied = 0;
  while (found != text.npos) {
    const std::size_t end = found + rule.phrase.size();
    if ((rule.whole_words && !at_word_border(text, found)) || !at_word_border(text, end)) {
      found = text.find(rule.phrase, found + 1);
      continue;
    }
    out.append(text, copied, found - copied).append(rule.written);
    copied = end;
    found = text.find(rule.phrase, end);
  }
  return out.append(text, copied);
}

/// Sounds that are no words.
std::u32string remove_hesitations(std::u32string text) {
  for (const std::u32string_view sound : {U"hmm", U"mm", U"mhm", U"mmm", U"uh", U"um"})
    text = rewrite(std::move(text), {sound, U""});
  return text;
}

/// re.sub(r"\s+'", "'", text)
std::u32string join_apostrophes(std::u32string_view text) {
  return substitute(text, [&](std::size_t at) -> std::optional<Replacement> {
    std::size_t end = at;
    while (end < text.size() && is_space(text[end])) ++end;
    if (end == at) return {};
    if (end < text.size() && text[end] == U'\'') return Replacement{end + 1 - at, U"'"};
    return Replacement{end - at, std::u32string(text.substr(at, end - at))};
  });
}

/// "1,000" becomes "1000", and a point that no digit follows a space.
std::u32string clean_digits(std::u32string_view text) {
  const std::u32string joined = substitute(text, [&](std::size_t at) -> std::optional<Replacement> {
    if (at + 2 >= text.size() || text[at + 1] != U',' || !is_decimal(text[at]) || !is_decimal(text[at + 2])) return {};
    return Replacement{3, {text[at], text[at + 2]}};
  });
  return substitute(joined, [&](std::size_t at) -> std::optional<Replacement> {
    if (joined[at] != U'.') return {};
    if (at + 1 == joined.size()) return Replacement{1, U" "};
    if (is_ascii_digit(joined[at + 1])) return {};
    return Replacement{2, {U' ', joined[at + 1]}};
  });
}

std::u32string american_spelling(std::u32string_view text) {
  static const auto kSpellings =
      nlohmann::json::parse(kEnglishSpellings).get<std::unordered_map<std::string, std::string>>();
  std::u32string out;
  for (const std::u32string_view word : split_at_spaces(text)) {
    if (!out.empty()) out.push_back(U' ');
    const auto found = kSpellings.find(to_utf8(word));
    out += found == kSpellings.end() ? std::u32string(word) : to_code_points(found->second);
  }
  return out;
}

/// Removes signs that are beside no digit.
std::u32string remove_lone_signs(std::u32string_view text) {
  static constexpr std::u32string_view kBefore = U".$¢€£";
  const std::u32string led = substitute(text, [&](std::size_t at) -> std::optional<Replacement> {
    if (at + 1 == text.size() || kBefore.find(text[at]) == kBefore.npos || is_ascii_digit(text[at + 1])) return {};
    return Replacement{2, {U' ', text[at + 1]}};
  });
  return substitute(led, [&](std::size_t at) -> std::optional<Replacement> {
    if (at + 1 == led.size() || is_ascii_digit(led[at]) || led[at + 1] != U'%') return {};
    return Replacement{2, {led[at], U' '}};
  });
}

}  // namespace

namespace {

/// What follows the removal of brackets.
std::string normalise_spoken(std::u32string s) {
  s = join_apostrophes(remove_hesitations(std::move(s)));
  for (const Rewrite& rule : kRewrites) s = rewrite(std::move(s), rule);
  s = remove_symbols_and_diacritics(clean_digits(s), U".%$¢€£");
  s = american_spelling(digits_for_number_words(s));
  return to_utf8(join_spaces(remove_lone_signs(s)));
}

}  // namespace

std::string normalise_english(std::string_view text) {
  return normalise_spoken(remove_brackets(lower(to_code_points(text))));
}

std::string normalise_english_lines(std::string_view text) {
  const std::u32string spoken = remove_brackets(lower(to_code_points(text)));
  std::string out;
  for (std::size_t at = 0; at <= spoken.size();) {
    const std::size_t end = std::min(spoken.find(U'\n', at), spoken.size());
    const std::string line = normalise_spoken(spoken.substr(at, end - at));
    out.append(out.empty() || line.empty() ? "" : " ").append(line);
    at = end + 1;
  }
  return out;
}

}  // namespace tutti
