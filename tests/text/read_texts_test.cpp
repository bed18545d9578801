// How the English front end reads texts as others write them: news, mail, prices, dates, addresses, code, names and
// more.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/strings.h"
#include "text/speech/front_end.h"
#include "text/speech/sentences.h"

using namespace tutti;

namespace {

/// The sounds of a text, without stress and pauses, and its words.
struct Spoken {
  std::string sounds{};
  std::string words{};
};

Spoken spoken_by(const TextFrontEnd& front_end, const std::string& text) {
  Spoken spoken;
  for (const auto& sentence : split_sentences(text, kLongestSentence).pieces) {
    const auto read = front_end.read(sentence);
    if (!read) return {.sounds = read.error().text(), .words = read.error().text()};
    for (const auto& word : read->words) spoken.words += word.text + " ";
    for (const auto symbol : read->symbols) {
      if (symbol <= TextFrontEnd::kLastMark) continue;
      std::string name = front_end.symbols()[static_cast<std::size_t>(symbol)];
      if (is_ascii_digit(name.back())) name.pop_back();
      spoken.sounds += name + " ";
    }
  }
  return spoken;
}

/// What a row states with "A", the name of the character, as IPA: "a" is the article.
std::string with_named_a(std::string_view words) {
  return joined(split(words, ' '), " ",
                [](std::string_view word) { return word == "A" ? "[[e\u026A]]" : std::string(word); });
}

struct Row {
  std::string kind{}, text{}, spoken{};
  bool is_known = false;  ///< to be read wrong
};

std::vector<Row> rows_of(const std::string& table) {
  std::vector<Row> rows;
  for (const auto line : split(table, '\n')) {
    const auto cells = split(line, '\t');
    if (cells.size() < 3) throw std::runtime_error("expected a kind, a text and how it is read: " + std::string(line));
    rows.push_back({std::string(cells[0]), std::string(cells[1]), std::string(cells[2]), cells.size() > 3});
  }
  return rows;
}

}  // namespace

// tests/data/read_aloud/texts.tsv: kind, text, how it is read; "wrong" where that is known not to be reached. What is
// compared is the sound, by the dictionary of the voice that ships: "FBI" there and "f b i" are the same.
TEST(ReadTexts, AtMostOneOfAHundredIsReadWrong) {
  const std::filesystem::path root(TUTTI_SOURCE_DIR);
  const auto front_end = TextFrontEnd::open(root / "models/voice" / TextFrontEnd::kFileName);
  ASSERT_TRUE(front_end) << front_end.error().text();
  const auto rows = rows_of(read_file(root / "tests/data/read_aloud/texts.tsv").value());
  std::map<std::string, std::size_t> kinds;
  std::size_t wrong = 0;
  for (const auto& row : rows) {
    ++kinds[row.kind];
    const auto read = spoken_by(*front_end, row.text);
    const auto expected = spoken_by(*front_end, with_named_a(row.spoken));
    const bool is_right = read.sounds == expected.sounds;
    wrong += is_right ? 0 : 1;
    EXPECT_EQ(is_right, !row.is_known) << row.kind << ": " << row.text << "\n  expected " << row.spoken
                                       << "\n  read     " << read.words
                                       << (is_right ? "\n  It is right now: take the mark away." : "");
  }
  EXPECT_GE(rows.size(), 500U);
  EXPECT_GE(kinds.size(), 20U);
  EXPECT_LE(wrong * 100, rows.size()) << wrong << " of " << rows.size() << " texts are read wrong";
}
