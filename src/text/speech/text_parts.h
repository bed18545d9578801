#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tutti {

// Text as it is written, cut into what a reader looks at one by one. All functions are pure.

/// A part of a text: IPA is what was within [[…]], without the brackets.
struct IpaPart {
  std::string_view text;
  bool is_ipa = false;
};

/// A text in its parts, in their order. "[[" that no "]]" follows is text.
std::vector<IpaPart> split_ipa(std::string_view text);

/// Fault::usage for a text with "[[" that no "]]" follows.
Result<void> check_ipa_brackets(std::string_view text);

// What people paste has the markup of pages in it (markup.cpp).

/// The bytes of HTML's entity ("&amp;", "&#39;"), tag or comment that begins at byte `at`; 0 where none does. A script
/// or a style is one with its content. "a < b" and "<5" have none.
std::size_t markup_size(std::string_view text, std::size_t at);

/// The text without its markup: entities are their characters, tags are gone; those that begin or end a block are a
/// pause, and what <sup> encloses is raised. A name that is no tag of HTML's stays in brackets: "<file>" is "(file)".
///
/// Of Markdown the signs go that begin a line ("# ", "- ", "> "), and "~~"; links keep their text. What marks emphasis
/// and code ("*", "_", "`") stays, for it has no words (is_silent, signs.h).
///
/// IPA in [[…]] is as it was. "A &lt; B<br># 10<sup>6</sup>" is "A < B — # 10⁶".
std::string without_markup(std::string_view text);

/// A word of English as it is written: what is between blanks, and the marks around it; or a sign beside words.
struct EnglishToken {
  std::string core{};      ///< without the marks around it: ASCII, the signs of signs.h and those of currencies
  std::string behind{};    ///< marks: . , ; : ? ! and ) for closing brackets
  bool is_opened = false;  ///< a bracket is before it
  bool is_ipa = false;     ///< the core is the content of [[…]], as it was given
  bool is_sign = false;    ///< the core is a sign, and what is before and behind it are tokens of their own
  bool is_tight = false;   ///< no blank is before it

  bool has_point() const { return behind.starts_with('.'); }
};

/// The tokens of English text: "x<=5 kg" is "x", "<=", "5" and "kg". Dashes and "--" between words are commas behind
/// the word before, quotation marks are left out, accents dropped. Figures in groups are one number with commas,
/// whatever parts them ("10 000", "1'000"). Characters that cannot be read go into `skipped`.
std::vector<EnglishToken> english_tokens(std::string_view text, std::set<std::string>& skipped);

/// Whether a token is what one calculates with: a number, or one character, with what raises it.
bool is_operand(const EnglishToken& token);

}  // namespace tutti
