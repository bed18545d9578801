#pragma once

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

/// A word of English as it is written: what is between blanks, and the marks around it.
struct EnglishToken {
  std::string core{};      ///< without the marks around it: ASCII, and the signs € £ ¥ ¢ ₹ ₩ ₽ ° × ÷ ±
  std::string behind{};    ///< marks: . , ; : ? ! and ) for closing brackets
  bool is_opened = false;  ///< a bracket is before it
  bool is_ipa = false;     ///< the core is the content of [[…]], as it was given

  bool has_point() const { return behind.starts_with('.'); }
};

/// The tokens of English text. Dashes and "--" between words are commas behind the word before, quotation marks are
/// left out, accents dropped. Characters that cannot be read go into `skipped`.
std::vector<EnglishToken> english_tokens(std::string_view text, std::set<std::string>& skipped);

}  // namespace tutti
