#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/speech/english_words.h"
#include "text/speech/text_parts.h"

namespace tutti {

/// The tokens of an English text, which of them is next, and the words that were made of those before. What writes
/// dates (english_dates.h), numbers (english_numbers.h) and all other words out moves over the tokens with it. Not
/// thread-safe.
class EnglishCursor {
 public:
  /// `knows` must live as long.
  EnglishCursor(std::vector<EnglishToken> tokens, const KnowsWord& knows);

  bool is_at_end() const { return at_ >= tokens_.size(); }
  /// The token that is next (0) or behind it; null behind the last one.
  const EnglishToken* token(std::size_t ahead) const;
  /// The core of that token; empty for IPA and behind the last one.
  std::string_view core(std::size_t ahead) const;
  /// The token before the next one; null at the first.
  const EnglishToken* before() const { return at_ > 0 ? &tokens_[at_ - 1] : nullptr; }
  /// Whether a name follows: "St. Paul", not "Baker St., London".
  bool next_is_name() const;
  /// Whether a dictionary has a word in lower case.
  bool knows(std::string_view word) const { return knows_(word); }

  /// Goes on to the following token. The marks behind this one are left out.
  void advance() { ++at_; }
  /// As advance, with the marks behind this token.
  void finish_token();
  /// Puts `core` in place of the next token's: what is still to be read of it. Views of it are invalid afterwards.
  void replace_core(std::string core) { tokens_[at_].core = std::move(core); }
  /// The point behind the token belongs to its short form, unless the text ends there.
  void take_point();
  /// The point behind the token ends a sentence, after all.
  void leave_point() { is_point_read_ = false; }
  bool is_point_read() const { return is_point_read_; }

  bool has_words() const { return !out_.empty(); }
  /// The last word, initial, IPA or mark. Requires has_words().
  const std::string& last_word() const { return out_.back().text; }
  /// Adds words that single spaces part.
  void add_words(std::string_view words);
  /// Adds a pause; of two in a row the stronger one stays, and none begins a text.
  void add_mark(char mark);
  /// Adds the marks behind a token.
  void add_marks(const EnglishToken& token);
  /// Adds ASCII's alphabetic characters as initials, one by one.
  void spell(std::string_view characters);
  void add_ipa(std::string_view ipa);

  /// What was made of the tokens.
  std::vector<ReadAloud> take() { return std::move(out_); }

 private:
  std::vector<EnglishToken> tokens_;
  const KnowsWord& knows_;
  std::size_t at_ = 0;
  bool is_point_read_ = false;
  std::vector<ReadAloud> out_{};
};

}  // namespace tutti
