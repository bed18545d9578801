#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/speech/english_words.h"
#include "text/speech/text_parts.h"

namespace tutti {

/// The tokens of an English text, which of them is next, and the words that were made of those before. All that
/// writes English out moves over the tokens with it. Not thread-safe.
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

// What is written out as a whole. Each function writes what begins at the next token, and that token is the last one of
// it afterwards. False where there is none of its kind; nothing has changed then, unless noted.

/// "May 5, 1863", "Nov. 3", "5 May 1863", "1863-05-01", "5/1/1863", "1.5.1863".
bool read_date(EnglishCursor& text);

/// "10:30", "10:05:09", "7:45pm", "7 p.m.", "10:30-11:45".
bool read_time(EnglishCursor& text);

/// "Mon. 5 May", "Mon-Fri". "Sun." is a word at the text's end and where the next sentence begins.
bool read_weekday(EnglishCursor& text);

/// "+44 20 7946 0958" digit by digit, whatever its groups look like, and "(212) 555-0199".
bool read_telephone(EnglishCursor& text);

/// What digit_group_words knows: versions, addresses, ratios.
bool read_groups(EnglishCursor& text);

/// "$3.50", "£20", "$1.5 million", "£2m", "$5-10", "$-5", "5 €", "$20/hr". An amount in two tokens is one token
/// afterwards, also where it is not read.
bool read_money(EnglishCursor& text);

/// "12", "1,234.5", "-3", "50%", "21st", "1980s", "1/2", "10-20", "1.5-2%", "5km", "2 1/2 cups". False also for a
/// number that other characters follow ("5abc"); its minus is written then, and the token is the rest.
bool read_number(EnglishCursor& text);

/// A number at the front of `text`: "12", "1,234", "3.14", ".5"; empty where there is none.
std::string_view number_at_front(std::string_view text);

std::string without_commas(std::string_view digits);

/// Whether four digits are read as a year: 1100 to 2099.
bool may_be_year(std::string_view digits);

}  // namespace tutti
