#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "generated_text.h"
#include "golden.h"
#include "support/temp_folder.h"
#include "text/error_rate.h"

using namespace tutti;
using nlohmann::json;

namespace {

constexpr std::string_view kWords[] = {"a",    "b", "c",       "the",  "then", "then,", "one",    "two",
                                       "тест", "é", "e\u0301", "日本", "x-y",  "'s",    "\u3000", "a\tb"};
constexpr std::string_view kSpaces[] = {" ", " ",  " ",  " ",  " ",    " ",      " ",       " ",
                                        " ", "  ", "\t", "\n", " \t ", "\u00a0", "\u2003 ", "\x1c"};

using Text = std::vector<std::string_view>;

std::string_view some_word(Lcg& lcg) {
  return kWords[lcg.pick(std::size(kWords))];
}

Text some_words(Lcg& lcg, std::uint32_t most) {
  Text words(lcg.pick(most));
  for (std::string_view& word : words) word = some_word(lcg);
  return words;
}

Text changed(Lcg& lcg, const Text& words) {
  Text out;
  for (const std::string_view word : words) {
    const std::uint32_t kind = lcg.pick(10);
    if (kind == 0) continue;
    out.push_back(kind == 1 ? some_word(lcg) : word);
    if (kind == 2) out.push_back(some_word(lcg));
  }
  return out;
}

std::string joined(Lcg& lcg, const Text& words) {
  const auto space = [&] { return std::string(kSpaces[lcg.pick(std::size(kSpaces))]); };
  std::string text = lcg.pick(4) == 0 ? space() : "";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += space();
    text += words[i];
  }
  if (lcg.pick(4) == 0) text += space();
  return text;
}

/// As tools/golden/wer.py makes it.
std::pair<std::string, std::string> generated_pair(std::uint64_t index) {
  Lcg lcg(index + 2'000'000);
  const Text reference = some_words(lcg, index % 50 == 0 ? 300 : 14);
  const Text hypothesis = lcg.pick(4) > 0 ? changed(lcg, reference) : some_words(lcg, 14);
  std::string first = joined(lcg, reference);
  return {std::move(first), joined(lcg, hypothesis)};
}

void add_counts(Fnv& fnv, const ErrorRates& rates) {
  const auto narrow = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  const std::int32_t counts[] = {narrow(rates.words.hits),       narrow(rates.words.substitutions),
                                 narrow(rates.words.insertions), narrow(rates.words.deletions),
                                 narrow(rates.character_errors), narrow(rates.characters)};
  fnv.add_ids(counts);
}

std::vector<std::string> one(std::string text) {
  return {std::move(text)};
}

/// The whole table and the way back through it as written down in error_rate.h, to hold the fast way against.
EditCounts counts_by_table(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      table[i][j] = i == 0 ? j : table[i - 1][j] + 1;
      if (i == 0 || j == 0) continue;
      table[i][j] = std::min({table[i][j], table[i][j - 1] + 1, table[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
    }
  }
  EditCounts counts;
  std::size_t i = a.size(), j = b.size();
  const auto equal_ends = [&] { return i > 0 && j > 0 && a[i - 1] == b[j - 1]; };
  for (; equal_ends(); --i, --j) ++counts.hits;  // both ends are trimmed before anything else
  std::size_t start = 0;
  while (start < i && start < j && a[start] == b[start]) ++start;
  counts.hits += static_cast<std::int64_t>(start);
  while (i > start || j > start) {
    if (i > start && table[i][j] == table[i - 1][j] + 1) {
      ++counts.deletions;
      --i;
    } else if (i == start || table[i][j - 1] + 1 == table[i - 1][j - 1]) {
      ++counts.insertions;
      --j;
    } else {
      --i;
      --j;
      ++(a[i] == b[j] ? counts.hits : counts.substitutions);
    }
  }
  return counts;
}

std::vector<std::int32_t> random_symbols(Lcg& lcg, std::size_t count, std::uint32_t kinds) {
  std::vector<std::int32_t> symbols(count);
  for (auto& symbol : symbols) symbol = static_cast<std::int32_t>(lcg.pick(kinds));
  return symbols;
}

}  // namespace

TEST(ErrorRates, TenThousandPairsCountAsInJiwer) {
  const json expected = golden("wer.json");
  const std::uint64_t block = expected.at("block");
  ASSERT_EQ(expected.at("blocks").size() * block, 10000u);
  for (std::uint64_t i = 0; i < expected.at("blocks").size(); ++i) {
    Fnv texts, counts;
    std::vector<std::string> references, hypotheses;
    for (std::uint64_t index = i * block; index < (i + 1) * block; ++index) {
      const auto [reference, hypothesis] = generated_pair(index);
      texts.add_text(reference);
      texts.add_text(hypothesis);
      add_counts(counts, error_rates(one(reference), one(hypothesis)).value());
      references.push_back(reference);
      hypotheses.push_back(hypothesis);
    }
    ASSERT_EQ(texts.hex(), expected.at("texts")[i]) << "the pairs are not those of the golden script";
    const json& values = expected.at("blocks")[i];
    EXPECT_EQ(counts.hex(), values.at("counts")) << "in pairs " << i * block << " to " << (i + 1) * block - 1;
    const ErrorRates whole = error_rates(references, hypotheses).value();
    EXPECT_EQ(whole.wer(), values.at("wer").get<double>());
    EXPECT_EQ(whole.cer(), values.at("cer").get<double>());
    EXPECT_EQ((std::vector{whole.words.hits, whole.words.substitutions, whole.words.insertions, whole.words.deletions}),
              values.at("words").get<std::vector<std::int64_t>>());
  }
}

TEST(ErrorRates, WithoutReferenceWordsTheInsertionsAreTheRate) {
  const ErrorRates rates = error_rates(one(" "), one("two words")).value();
  EXPECT_EQ(rates.wer(), 2.0);
  EXPECT_EQ(rates.cer(), 9.0);
  EXPECT_EQ(error_rates({}, {}).value().wer(), 0.0);
}

TEST(ErrorRates, MissingHypothesisErrorNamesTheCounts) {
  const auto rates = error_rates(std::vector<std::string>{"a", "b"}, one("a"));
  ASSERT_FALSE(rates);
  EXPECT_EQ(rates.error().fault, Fault::usage);
  EXPECT_NE(rates.error().what.find("2 references, found 1"), std::string::npos);
}

TEST(EditDistance, GoesTheWayOfThePlainTable) {
  Lcg lcg(7);
  for (int round = 0; round < 300; ++round) {
    const auto a = random_symbols(lcg, lcg.pick(400), 2 + lcg.pick(50));
    const auto b = random_symbols(lcg, lcg.pick(400), 2 + lcg.pick(50));  // rows are kept from 64 on
    const EditCounts expected = counts_by_table(a, b);
    const EditCounts counts = edit_counts(a, b);
    EXPECT_EQ(counts.hits, expected.hits);
    EXPECT_EQ(counts.substitutions, expected.substitutions);
    EXPECT_EQ(counts.insertions, expected.insertions);
    EXPECT_EQ(counts.deletions, expected.deletions);
    EXPECT_EQ(edit_distance(a, b), expected.errors());
  }
}

TEST(EditDistance, FindsAFewErrorsInALongTextWithoutLookingFarFromTheDiagonal) {
  Lcg lcg(8);
  for (const std::uint32_t wrong : {200u, 20u, 3u}) {  // one word in so many
    const auto a = random_symbols(lcg, 1500, 300);
    std::vector<std::int32_t> b;
    for (const std::int32_t symbol : a) {
      const std::uint32_t kind = lcg.pick(3 * wrong);
      if (kind != 0) b.push_back(kind == 1 ? 1000 : symbol);
      if (kind == 2) b.push_back(symbol);
    }
    b.insert(b.begin(), 100, 2000);  // all of it beside the diagonal
    const EditCounts counts = edit_counts(a, b), expected = counts_by_table(a, b);
    EXPECT_EQ(counts.hits, expected.hits);
    EXPECT_EQ(counts.insertions, expected.insertions);
    EXPECT_EQ(counts.deletions, expected.deletions);
    EXPECT_EQ(counts.errors(), expected.errors());
    EXPECT_EQ(edit_distance(b, a), expected.errors());
  }
}

TEST(ReadLines, KeepEmptyLinesAndDropMarksAndCarriageReturns) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "lines.txt",
                                    "\xEF\xBB\xBF"
                                    "one\r\n\ntwo\nlast"));
  EXPECT_EQ(read_lines(folder / "lines.txt").value(), (std::vector<std::string>{"one", "", "two", "last"}));
  EXPECT_FALSE(read_lines(folder / "missing.txt"));
}

TEST(ReadLines, NameTheLineThatIsNoUtf8) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "latin.txt", "one\ncaf\xE9\nthree\n"));
  const auto lines = read_lines(folder / "latin.txt");
  ASSERT_FALSE(lines);
  EXPECT_THAT(lines.error().text(), testing::HasSubstr("latin.txt, line 2: expected UTF-8"));
}
