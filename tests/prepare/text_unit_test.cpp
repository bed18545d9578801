#include "prepare/text_unit.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace tutti {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// One word from start to end.
TextUnit unit(const std::string& text, double start, double end, double score = 0.9) {
  TextUnit made;
  made.segment.text = text;
  made.segment.start = start;
  made.segment.end = end;
  made.segment.words = {{" " + text, start, end, score}};
  made.score = score;
  return made;
}

std::vector<std::string> texts(const std::vector<PreparedPiece>& pieces) {
  std::vector<std::string> all;
  for (const auto& taken : pieces) all.push_back(taken.piece.text);
  return all;
}

TEST(TextUnits, NoPieceHasAudioOfARefusedOne) {
  std::vector units{unit("one", 1, 2), unit("two", 3, 4), unit("wrong", 5, 6, 0.1), unit("three", 7, 8)};
  score_units(units, 0.4);
  EXPECT_THAT(units[2].refused, HasSubstr("0.10"));
  const auto pieces = cut_units(units, 20, 30);
  EXPECT_THAT(texts(pieces), ElementsAre("one two", "three"));
  EXPECT_DOUBLE_EQ(pieces[0].piece.end, 4.5);
  EXPECT_DOUBLE_EQ(pieces[1].piece.start, 6.5);
  EXPECT_DOUBLE_EQ(pieces[1].piece.times.at(0).start, 7);
  EXPECT_DOUBLE_EQ(pieces[0].score, 0.9);
  EXPECT_DOUBLE_EQ(pieces[0].around_end.start, 3.5)
      << "a second away at most, and no nearer to a word than it is known";
  EXPECT_DOUBLE_EQ(pieces[0].around_end.end, 5) << "not into what is refused";
  EXPECT_DOUBLE_EQ(pieces[1].around_start.start, 6);
}

TEST(TextUnits, TextWithoutRemainingAudioIsRefused) {
  std::vector units{unit("three four", 0, 1.3), unit("zero nine six", 1.3, 2.9), unit("zero nine six", 2.9, 2.94),
                    unit("yes", 2.94, 2.96), unit("a fast one but spoken", 3, 3.6)};
  score_units(units, 0.4);
  EXPECT_THAT(units[2].refused, testing::AllOf(HasSubstr("11 letters"), HasSubstr("0.04 s")));
  for (const std::size_t other : {0U, 1U, 3U, 4U}) EXPECT_THAT(units[other].refused, IsEmpty()) << other;
  EXPECT_THAT(texts(cut_units(units, 4, 30)), ElementsAre("three four zero nine six", "yes a fast one but spoken"));
}

/// Short words, of which those from `lost` on have no audio left.
TextUnit cut_off(std::size_t words, std::size_t lost) {
  TextUnit made = unit("", 0, 0);
  Segment& aligned = made.segment;
  aligned.words.clear();
  for (std::size_t i = 0; i < words; ++i) {
    const double start = 0.3 * static_cast<double>(std::min(i, lost));
    aligned.words.push_back({" word", start, i < lost ? start + 0.3 : start + 0.02, 0.9});
    aligned.text += " word";
    aligned.end = aligned.words.back().end;
  }
  return made;
}

TEST(TextUnits, TextWhoseEndWasCutOffIsRefused) {
  std::vector units{cut_off(12, 12), cut_off(12, 8), cut_off(12, 10)};
  score_units(units, 0.4);
  EXPECT_THAT(units[0].refused, IsEmpty());
  EXPECT_THAT(units[1].refused, testing::AllOf(HasSubstr("from 'word' on, 16 letters"), HasSubstr("0.32 s")));
  EXPECT_THAT(units[2].refused, IsEmpty()) << "two short words may be timed wrongly";
}

TEST(TextUnits, PiecesAreNoLongerThanTheWindow) {
  std::vector<TextUnit> units;
  for (int i = 0; i < 40; ++i) units.push_back(unit("w", 2 * i, 2 * i + 1.5));
  const auto pieces = cut_units(units, 80, 12);
  EXPECT_GE(pieces.size(), 7U);
  for (const auto& taken : pieces)
    EXPECT_LE(taken.around_end.end - taken.around_start.start, 12) << "wherever it is cut";
}

TEST(TextUnits, OverlongUnitWithoutWordTimesIsRefused) {
  std::vector units{unit("endless", 0, 40)};
  units[0].segment.words.clear();
  EXPECT_THAT(cut_units(units, 50, 30), IsEmpty());
  EXPECT_THAT(units[0].refused, HasSubstr("longer"));
}

}  // namespace
}  // namespace tutti
