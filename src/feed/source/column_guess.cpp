#include "feed/source/column_guess.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "feed/labelled/labelled_files.h"
#include "text/code_points.h"
#include "text/languages.h"
#include "text/normaliser.h"
#include "text/utf8.h"

namespace tutti {
namespace {

using Names = std::vector<std::string>;
using Words = std::vector<std::u32string>;

/// A character of a script without spaces between words, which counts as a word: from Thai to Khmer, and from CJK on.
bool is_word_alone(char32_t c) {
  constexpr char32_t kThai = 0xE00, kMyanmarEnd = 0x109F, kKhmer = 0x1780, kKhmerEnd = 0x17FF, kCjk = 0x2E80;
  return (c >= kThai && c <= kMyanmarEnd) || (c >= kKhmer && c <= kKhmerEnd) || (c >= kCjk && is_word_character(c));
}

/// The words of a text in lower case, without punctuation.
Words words_of(const std::string& text) {
  Words words;
  const std::u32string small = lower(nfkc(to_code_points(text)));
  std::u32string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::exchange(word, {}));
  };
  for (const char32_t c : small) {
    const bool is_mark = class_of(c) == GeneralClass::mark || class_of(c) == GeneralClass::mark_nonspacing;
    const bool is_alone = is_word_alone(c);
    if (is_alone || (!is_word_character(c) && !is_mark)) end_word();
    if (is_alone)
      words.emplace_back(1, c);
    else if (is_word_character(c) || is_mark)
      word += c;
  }
  end_word();
  return words;
}

/// Whether two texts have a word in common. A single character of an alphabet is none: symbols of phonemes are written
/// so.
bool have_common_word(const Words& a, const Words& b) {
  if (a == b) return !a.empty();
  return std::ranges::any_of(a, [&](const std::u32string& word) {
    const bool is_short = word.size() == 1 && !is_decimal(word[0]) && !is_word_alone(word[0]);
    return !is_short && std::ranges::find(b, word) != b.end();
  });
}

std::optional<std::int64_t> whole_number(const std::string& field) {
  const auto text = trimmed(field);
  return is_all_digits(text) ? number_in<std::int64_t>(text) : std::nullopt;
}

/// Seconds as "3.21", "00:00:03" or "3.2 s".
std::optional<double> seconds_of_field(std::string field) {
  std::string_view text = trimmed(field);
  if (text.ends_with('s')) text = trimmed(text.substr(0, text.size() - 1));
  std::string plain(text);
  std::ranges::replace(plain, ',', '.');
  return seconds_in_field(plain);
}

/// "en", "ZH", "pt-BR": a code, no name.
bool is_language(const std::string& field) {
  constexpr std::size_t kLongestCode = 3;
  const auto text = trimmed(field);
  const auto code = text.substr(0, text.find_first_of("-_"));
  return code.size() >= 2 && code.size() <= kLongestCode && language_of_tag(text).has_value();
}

/// What the fields of one column are.
struct ColumnFacts {
  std::vector<std::pair<std::size_t, std::string>> filled{};  ///< rows and their fields that are not empty
  std::vector<Words> words{};                                 ///< of each
  double words_each = 0;
  std::size_t most_words = 0;
  std::size_t different = 0;
  bool are_numbers = false;  ///< whole numbers
  bool are_digits = false;   ///< the same, or several of them
  bool are_seconds = false;  ///< seconds, not all of them whole
  bool are_languages = false;
  bool are_parts = false;  ///< train, validation, test

  /// Whether a value comes twice on average, as names do and texts do not.
  bool repeats() const { return 2 * different <= filled.size(); }
  bool has_a_repeated_one() const { return different < filled.size(); }
};

ColumnFacts facts_of(const ListRows& list, int column) {
  ColumnFacts facts;
  for (std::size_t row = 0; row < list.rows.size(); ++row) {
    const Names& fields = list.rows[row];
    if (column >= std::ssize(fields) || trimmed(fields[static_cast<std::size_t>(column)]).empty()) continue;
    facts.filled.emplace_back(row, trimmed(fields[static_cast<std::size_t>(column)]));
  }
  std::set<std::string> different;
  std::size_t all_words = 0;
  for (const auto& [row, field] : facts.filled) {
    different.insert(field);
    facts.words.push_back(words_of(field));
    all_words += facts.words.back().size();
    facts.most_words = std::max(facts.most_words, facts.words.back().size());
  }
  const auto all_are = [&](const auto& is) {
    return !facts.filled.empty() && std::ranges::all_of(facts.filled, [&](const auto& one) { return is(one.second); });
  };
  facts.different = different.size();
  facts.words_each =
      facts.filled.empty() ? 0 : static_cast<double>(all_words) / static_cast<double>(facts.filled.size());
  facts.are_numbers = all_are([](const std::string& field) { return whole_number(field).has_value(); });
  facts.are_digits = all_are([](const std::string& field) {
    return std::ranges::all_of(field, [](char c) { return c == ' ' || is_ascii_digit(static_cast<unsigned char>(c)); });
  });
  facts.are_seconds =
      !facts.are_numbers && all_are([](const std::string& field) { return seconds_of_field(field).has_value(); });
  facts.are_languages = all_are(is_language);
  facts.are_parts = all_are([](const std::string& field) { return part_of(field) != SetPart::none; });
  return facts;
}

/// Rows in which both columns have something, and in how many of these they share a word.
struct Shared {
  std::size_t rows = 0, sharing = 0;
  bool are_most() const { return 2 * sharing > rows; }
};

template <class Shares>
Shared shared_rows(const ColumnFacts& a, const ColumnFacts& b, const Shares& shares) {
  Shared shared;
  std::map<std::size_t, std::size_t> in_b;
  for (std::size_t i = 0; i < b.filled.size(); ++i) in_b[b.filled[i].first] = i;
  for (std::size_t i = 0; i < a.filled.size(); ++i) {
    const auto at = in_b.find(a.filled[i].first);
    if (at == in_b.end()) continue;
    ++shared.rows;
    shared.sharing += shares(i, at->second) ? 1 : 0;
  }
  return shared;
}

/// Whether equal values of `a` are beside equal values of `b`, and some are.
bool determines(const ColumnFacts& a, const ColumnFacts& b) {
  std::set<std::pair<std::string, std::string>> pairs;
  shared_rows(
      a, b, [&](std::size_t i, std::size_t j) { return pairs.emplace(a.filled[i].second, b.filled[j].second).second; });
  return a.different < a.filled.size() && pairs.size() == a.different;
}

/// Whether `words` writes out the numbers of `digits`: in English, or by the same words for each number that repeats.
bool writes_out(const ColumnFacts& digits, const ColumnFacts& words) {
  const auto figures = [](const std::string& text) {
    std::string normal = normalise_english(text);
    std::erase(normal, ' ');
    return normal;
  };
  const auto equal = shared_rows(digits, words, [&](std::size_t i, std::size_t j) {
    return figures(digits.filled[i].second) == figures(words.filled[j].second);
  });
  return equal.are_most() || determines(digits, words);
}

/// "'anna', 'ben', ...": what is in a column, for people.
std::string shown(const ColumnFacts& facts) {
  constexpr std::size_t kMost = 3, kLongest = 40;
  std::vector<std::string> fields;
  for (const auto& [row, field] : facts.filled) {
    if (fields.size() == kMost) break;
    std::u32string text = to_code_points(field);
    if (text.size() > kLongest) text = text.substr(0, kLongest) + U"...";
    if (auto quoted = "'" + to_utf8(text) + "'"; std::ranges::find(fields, quoted) == fields.end())
      fields.push_back(std::move(quoted));
  }
  return joined(fields, ", ") + (facts.different > fields.size() ? ", ..." : "");
}

const char* ordinal(int column) {
  constexpr std::array kNames{"first", "second", "third", "fourth", "fifth", "sixth"};
  return column < std::ssize(kNames) ? kNames[static_cast<std::size_t>(column)] : "further";
}

constexpr const char* kNameThem =
    "Name the columns in a first line, such as id|text|normalised, id|speaker|text or path|label";

class ColumnGuess {
 public:
  ColumnGuess(ListColumns columns, const Names& header, const ListRows& list)
      : columns_(std::move(columns)), header_(header), list_(list) {}

  Result<ListColumns> run(ListContent content) {
    const int width = usual_width();
    columns_.width = width;
    find_audio(width);
    for (int column = 0; column < columns_.width; ++column)
      if (is_free(column)) free_.emplace_back(column, facts_of(list_, column));
    leave_out_other_values();
    TRY(content == ListContent::labels ? find_label() : find_texts());
    columns_.conclusion = joined(conclusions_, "; ");
    return std::move(columns_);
  }

 private:
  using Free = std::vector<std::pair<int, ColumnFacts>>;

  /// The number of fields that most rows have; of two that as many have the larger. With a header as many as it has
  /// names, unless most rows have more. A column that an eighth of the rows have counts, too.
  int usual_width() const {
    constexpr std::size_t kEighth = 8;
    const std::size_t least_rows = header_.empty() ? 1 : 3;
    std::map<std::size_t, std::size_t> counts;
    std::size_t wider = 0;
    for (const Names& row : list_.rows) {
      ++counts[row.size()];
      wider += row.size() > header_.size() ? 1 : 0;
    }
    std::size_t width = 0, most = 0;
    for (const auto& [size, count] : counts)
      if (count >= most) width = size, most = count;
    if (!header_.empty() && 2 * wider <= list_.rows.size()) width = header_.size();
    const auto next = counts.find(width + 1);
    const bool is_column = next != counts.end() && next->second >= least_rows &&
                           kEighth * next->second >= list_.rows.size() && !has_blank_at_end(width + 1);
    return static_cast<int>(is_column ? width + 1 : width);
  }

  /// Whether most rows of that width have a blank before or behind their last separator and none at the first, as a
  /// sign within a text has.
  bool has_blank_at_end(std::size_t width) const {
    const auto has_blank = [](const Names& row, std::size_t at) {
      return trimmed(row[at - 1]).size() < row[at - 1].size() || trimmed(row[at]).size() < row[at].size();
    };
    std::size_t rows = 0, blanks = 0;
    for (const Names& row : list_.rows) {
      if (row.size() != width || width < 3) continue;
      ++rows;
      blanks += has_blank(row, width - 1) && !row[1].starts_with(' ') ? 1 : 0;
    }
    return 2 * blanks > rows;
  }

  /// The first column with files; where none has any, the first of all.
  void find_audio(int width) {
    constexpr std::size_t kLooks = 20;
    if (!columns_.audio.empty()) return;
    columns_.audio = {0};
    for (int column = 0; column < width; ++column) {
      const auto fields = facts_of(list_, column).filled;
      const auto looks = std::min(kLooks, fields.size());
      if (std::any_of(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(looks),
                      [&](const auto& one) { return list_.seconds_of(one.second).has_value(); })) {
        columns_.audio = {column};
        break;
      }
    }
    columns_.id = columns_.audio.front();
  }

  bool is_free(int column) const {
    if (columns_.reads(column)) return false;
    const bool has_name = column < std::ssize(header_) && !trimmed(header_[static_cast<std::size_t>(column)]).empty();
    return !has_name || (columns_.text < 0 && columns_.label.empty());
  }

  /// Whether whole numbers are the lengths of the recordings: in seconds, milliseconds, or samples of a usual rate.
  bool are_lengths(const ColumnFacts& facts) const {
    constexpr std::size_t kLooks = 8;
    std::size_t looked = 0, fitting = 0;
    for (const auto& [row, field] : facts.filled) {
      if (looked == kLooks) break;
      const auto seconds = list_.seconds_of(list_.rows[row][static_cast<std::size_t>(columns_.audio.front())]);
      if (!seconds || *seconds <= 0) continue;
      ++looked;
      const auto value = static_cast<double>(*whole_number(field));
      fitting += std::ranges::any_of(std::array{1, 1000, 16000, 22050, 24000, 44100, 48000}, [&](int a_second) {
        return std::abs(value / a_second - *seconds) < (a_second == 1 ? 1 : 0.1);
      });
    }
    return looked > 0 && 4 * fitting > 3 * looked;
  }

  void leave_out_other_values() {
    if (free_.size() < 2) return;
    Free left;
    for (const auto& one : free_) {
      const ColumnFacts& facts = one.second;
      if (facts.filled.empty() || facts.are_seconds || facts.are_languages) continue;
      if (facts.are_numbers && facts.different > 2 && are_lengths(facts)) continue;
      left.push_back(one);
    }
    if (!left.empty()) free_ = std::move(left);
  }

  void set_speaker(std::size_t at) {
    const auto& [column, facts] = free_[at];
    columns_.speaker = {column};
    conclusions_.push_back(std::string("its ") + ordinal(column) + " column (" + shown(facts) +
                           ") is taken for the speaker");
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  static Shared shared_words(const ColumnFacts& a, const ColumnFacts& b) {
    return shared_rows(a, b, [&](std::size_t i, std::size_t j) { return have_common_word(a.words[i], b.words[j]); });
  }

  Result<void> find_texts() {
    if (columns_.text < 0 && columns_.normalised < 0) {
      if (auto first = find_first_text(); !first) return first;
    }
    if (columns_.text >= 0) take_rest();
    return {};
  }

  /// What two columns without a word in common are, of which the first holds numbers or a word or two.
  enum class Pair { speaker_and_text, text_and_other, digits_and_text, unclear };
  static Pair pair_of(const ColumnFacts& first, const ColumnFacts& second) {
    constexpr std::size_t kMostOfAName = 2;  // words
    if (first.are_digits && writes_out(first, second)) return Pair::digits_and_text;
    if (first.most_words > kMostOfAName && !first.are_numbers) return Pair::text_and_other;
    if (second.most_words <= kMostOfAName) {
      const bool either = first.are_numbers || (first.repeats() && second.repeats());
      return either ? Pair::unclear : Pair::text_and_other;
    }
    if (!first.are_numbers && 2 * first.words_each > second.words_each) return Pair::text_and_other;
    if (determines(first, second)) return Pair::text_and_other;  // its phones: a speaker has more than one sentence
    return first.has_a_repeated_one() ? Pair::speaker_and_text : Pair::unclear;
  }

  Result<void> find_first_text() {
    if (free_.empty()) return fail(Fault::usage, "no column has texts", kNameThem);
    if (free_.size() > 1 && !shared_words(free_[0].second, free_[1].second).are_most()) {
      const Pair pair = pair_of(free_[0].second, free_[1].second);
      if (pair == Pair::unclear)
        return fail(Fault::usage,
                    std::string("which of its columns is the text is not clear, the ") + ordinal(free_[0].first) +
                        " (" + shown(free_[0].second) + ") or the " + ordinal(free_[1].first) + " (" +
                        shown(free_[1].second) + ")",
                    kNameThem);
      if (pair == Pair::digits_and_text) columns_.normalised = free_[1].first;
      if (pair == Pair::speaker_and_text) set_speaker(0);
    }
    columns_.text = free_.front().first;
    text_ = free_.front().second;
    std::erase_if(free_,
                  [&](const auto& one) { return one.first == columns_.text || one.first == columns_.normalised; });
    return {};
  }

  /// Whether values beside the text are speakers: few words that repeat, in most rows.
  bool may_be_speakers(const ColumnFacts& facts) const {
    constexpr std::size_t kMostWords = 4;
    constexpr double kSentence = 3;
    if (2 * facts.filled.size() <= list_.rows.size()) return false;
    if (facts.most_words == 1 && !facts.are_numbers && facts.has_a_repeated_one() && text_.words_each >= kSentence)
      return true;
    return facts.repeats() && facts.most_words <= kMostWords &&
           (facts.are_numbers || facts.most_words == 1 || 2 * facts.words_each <= text_.words_each);
  }

  /// What is left beside the text: its normalised form, who speaks, or values that are not read.
  void take_rest() {
    if (text_.filled.empty()) text_ = facts_of(list_, columns_.text);
    for (std::size_t at = 0; at < free_.size();) {
      const auto& [column, facts] = free_[at];
      const auto shared = shared_words(text_, facts);
      if (columns_.normalised < 0 && 2 * shared.sharing > list_.rows.size()) {
        columns_.normalised = column;
      } else if (columns_.speaker.empty() && may_be_speakers(facts)) {
        set_speaker(at);
        continue;
      } else if (columns_.normalised < 0) {
        conclusions_.push_back(std::string("its ") + ordinal(column) + " column (" + shown(facts) +
                               ") is no normalised text: it shares a word with the text in " +
                               std::to_string(shared.sharing) + " of " + std::to_string(list_.rows.size()) +
                               " rows; the text is the " + ordinal(columns_.text) + " column's");
      }
      ++at;
    }
  }

  Result<void> find_label() {
    if (!columns_.label.empty()) return {};
    for (const auto& [column, facts] : free_)
      if (facts.are_parts && free_.size() > 1) columns_.part.push_back(column);
    std::erase_if(free_,
                  [&](const auto& one) { return std::ranges::find(columns_.part, one.first) != columns_.part.end(); });
    if (free_.size() != 1)
      return fail(Fault::usage,
                  "expected a column of labels beside that of the files, found " + std::to_string(free_.size()),
                  kNameThem);
    columns_.label = {free_.front().first};
    return {};
  }

  ListColumns columns_;
  const Names& header_;
  const ListRows& list_;
  Free free_{};
  ColumnFacts text_{};
  std::vector<std::string> conclusions_{};
};

}  // namespace

bool share_a_word(const std::string& a, const std::string& b) {
  return have_common_word(words_of(a), words_of(b));
}

Result<ListColumns> complete_columns(ListColumns columns, const Names& header, ListContent content,
                                     const ListRows& list) {
  return ColumnGuess(std::move(columns), header, list).run(content);
}

}  // namespace tutti
