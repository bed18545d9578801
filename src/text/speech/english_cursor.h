#pragma once

#include <cstddef>
#include <set>
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
  /// `knows` and `skipped`, which gets what is left out, must live as long.
  EnglishCursor(std::vector<EnglishToken> tokens, const KnowsWord& knows, std::set<std::string>& skipped);

  bool is_at_end() const { return at_ >= tokens_.size(); }
  /// The token that is next (0) or behind it; null behind the last one.
  const EnglishToken* token(std::size_t ahead) const;
  /// The core of that token; empty for IPA and behind the last one.
  std::string_view core(std::size_t ahead) const;
  /// The token before the next one, or as many before it; null before the first.
  const EnglishToken* before(std::size_t back = 1) const { return at_ >= back ? &tokens_[at_ - back] : nullptr; }
  /// The core of that token in lower case; empty for IPA and before the first.
  std::string small_before(std::size_t back = 1) const;
  /// Whether a name follows: "St. Paul", not "Baker St., London".
  bool next_is_name() const;
  /// Whether the text is in capitals, so that they mean nothing.
  bool is_shouted() const { return is_shouted_; }
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
  /// Whether a word was among those before.
  bool has_word(std::string_view word) const;
  /// Adds words that single spaces part.
  void add_words(std::string_view words);
  /// Adds an ending to the last word, such as "'s".
  void add_ending(std::string_view ending) { out_.back().text += ending; }
  /// Adds a pause; of two in a row the stronger one stays, and none begins a text.
  void add_mark(char mark);
  /// Adds the marks behind a token.
  void add_marks(const EnglishToken& token);
  /// Adds ASCII's alphabetic characters as initials, one by one.
  void spell(std::string_view characters);
  void add_ipa(std::string_view ipa);
  /// Names a sign that has no words.
  void leave_out(std::string_view sign) { skipped_.emplace(sign); }

  /// What was made of the tokens.
  std::vector<ReadAloud> take() { return std::move(out_); }

 private:
  std::vector<EnglishToken> tokens_;
  const KnowsWord& knows_;
  std::set<std::string>& skipped_;
  bool is_shouted_;
  std::size_t at_ = 0;
  bool is_point_read_ = false;
  std::vector<ReadAloud> out_{};
};

// What is written out as a whole. Each function writes what begins at the next token, and that token is the last one of
// it afterwards. False where there is none of its kind; nothing has changed then, unless noted.

/// A sign that is a token of its own, by what is beside it: "a < b", "<5", "6 / 2".
bool read_sign(EnglishCursor& text);

/// The "x" of "2 x 4" and "12ft x 14ft", between numbers: "by" or "times".
bool read_product(EnglishCursor& text);

/// Any other word: words with signs, digits and hyphens in them, piece by piece. A sign without words is named as left
/// out.
void read_compound(EnglishCursor& text, std::string_view word);

/// Roman figures behind what they count or a name, and the numbers of a list: "Chapter IX", "Louis XIV", "ii)".
bool read_roman(EnglishCursor& text);

/// Parts of an address: "NY 10118", "W. 42nd St.", "350 Fifth Ave.", "221B Baker St."
bool read_address_part(EnglishCursor& text);

/// "21st" and the like.
bool is_ordinal(std::string_view word);

/// Whether the next token (0) or one as many before it is the number of a road: "I-90", the "9" of "Route 9".
bool is_route(const EnglishCursor& text, std::size_t back);

/// Capitals that are read by their names: those that no dictionary has, and those that are a word only in lower case
/// ("US"), unless all of the text is in capitals.
bool is_spelled(const EnglishCursor& text, std::string_view word);

/// "May 5, 1863", "Nov. 3", "5 May 1863", "1863-05-01", "5/1/1863", "15/03/2024", "1.5.1863", "2024-03-15T10:30Z",
/// "03/2024", and the years of a season, "2010/11".
bool read_date(EnglishCursor& text);

/// "10:30", "10:05:09", "7:45pm", "7 p.m.", "10:30-11:45".
bool read_time(EnglishCursor& text);

/// "Mon. 5 May", "Mon-Fri". "Sun." is a word at the text's end and where the next sentence begins.
bool read_weekday(EnglishCursor& text);

/// "+44 20 7946 0958" digit by digit, whatever its groups look like, "(212) 555-0199", "503 555 0190", "020 7946 0958",
/// "1-800-FLOWERS", "call 911".
bool read_telephone(EnglishCursor& text);

/// What digit_group_words knows: versions, addresses, ratios.
bool read_groups(EnglishCursor& text);

/// "$3.50", "£20", "$1.5 million", "£2m", "$5-10", "$-5", "5 €", "$20/hr". An amount in two tokens is one token
/// afterwards, also where it is not read.
bool read_money(EnglishCursor& text);

/// "12", "1,234.5", "-3", "50%", "21st", "1980s", "1/2", "10-20", "1.5-2%", "5km", "5G", "50K", "2 1/2 cups". False
/// also for a number that other characters follow ("5abc"); its minus is written then, and the token is the rest.
bool read_number(EnglishCursor& text);

/// "2 1/2 cups", "1 3/8in", "6 1/2-hour": the fraction behind the whole number that the next token is.
bool read_fraction_behind(EnglishCursor& text);

/// "19-3/4in", "2-1/2": the fraction belongs to the number before it. `rest` begins with the dash.
bool read_mixed_number(EnglishCursor& text, const std::string& whole, std::string_view rest);

/// "3/4", "9.5/10", "1/4s", "16/64/128GB": `rest` is what is behind the number `above`.
bool read_fraction(EnglishCursor& text, const std::string& above, std::string_view rest);

/// The part of read_date that has figures alone: "5/1/1863", "2024-03-15T10:30Z", "2010/11", "on 3/15".
bool read_date_in_figures(EnglishCursor& text);

/// Whether two numbers with a slash between them are read one after the other and are no fraction: "24/7", "9/11",
/// "80/20".
bool is_spoken_pair(std::string_view first, std::string_view second);

/// A number at the front of `rest`, as "21st" in "21st-century"; how much of it that was. `left`: what is before it in
/// the word.
std::size_t read_digits_within(EnglishCursor& text, std::string_view left, std::string_view rest);

/// Whether a text begins with the end of an ordinal: "st-century".
bool has_ordinal_ending(std::string_view text);

/// Whether the amount before the token `ahead` describes the noun that this is: "2000 W heater", "a 5 kg bag", "a $20
/// bill", not "5 m high" or "2 kg rice". English has the unit in the singular then.
bool describes_noun(const EnglishCursor& text, std::string_view unit, std::size_t ahead);

/// Whether the words around the number that the next token is show that an "F" or "C" behind it is of degrees:
/// "Preheat to 375 F", "37C in the shade", not "My seat is 14C".
bool is_of_degrees(const EnglishCursor& text);

/// Whether a unit is behind the number that the next token is.
bool has_unit_behind(const EnglishCursor& text);

/// The unit that follows the number that the next token is, as a token of its own: "5 km", "5 in.", "5 sq ft". Written
/// where there is one.
void read_unit_behind(EnglishCursor& text, bool is_one);

}  // namespace tutti
