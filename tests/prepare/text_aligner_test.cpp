#include "prepare/text_aligner.h"

#include <gmock/gmock.h>

namespace tutti {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Spreads any text evenly over its window. Texts of more than `believed` tokens are improbable to it.
class EvenDecoder final : public WindowDecoder {
 public:
  std::size_t believed = 1000;
  std::vector<std::int64_t> window_starts{};  // where the windows began, frames

  Result<std::string> detect_language(WindowSpan) override { return "en"; }
  Result<DecodeAnswer> decode(WindowSpan, const DecodeRequest&) override { return fail(Fault::internal, "not asked"); }
  Result<AlignAnswer> align(WindowSpan window, const AlignRequest& request) override {
    window_starts.push_back(window.seek);
    const auto count = static_cast<std::int64_t>(request.text.size());
    AlignAnswer answer;
    for (std::int64_t i = 0; i <= count; ++i)
      answer.starts.push_back(static_cast<std::int32_t>(window.frames / 2 * i / count));
    answer.probabilities.assign(request.text.size(), request.text.size() > believed ? 0.1F : 0.9F);
    return answer;
  }
};

TextUnit unit(const std::string& text, double start, double end) {
  TextUnit made;
  made.segment.text = text;
  made.segment.start = start;
  made.segment.end = end;
  return made;
}

/// Aligns with a model whose window is 30 s, in a recording of a minute.
void align(std::vector<TextUnit>& units, EvenDecoder& decoder) {
  const auto tokenizer = Tokenizer::built_in(51864).value();
  const WordRules rules;
  const WordTimer timer(tokenizer, rules, {tokenizer.special().sot}, "en", 3000);
  const TextAligner aligner(tokenizer, timer, {.content_frames = 6000}, 0.4);
  ASSERT_TRUE(aligner.align(units, decoder));
}

TEST(TextAligner, AlignsAsManyUnitsTogetherAsOneWindowHolds) {
  std::vector units{unit("one two", 1, 9), unit("three four", 11, 19), unit("five six", 31, 39)};
  EvenDecoder decoder;
  align(units, decoder);
  EXPECT_THAT(decoder.window_starts, ElementsAre(50, 3050)) << "half a second before the first text of each";
  for (const auto& it : units) {
    EXPECT_THAT(it.refused, IsEmpty());
    EXPECT_EQ(it.segment.words.size(), 2U);
    EXPECT_NEAR(it.score, 0.9, 1e-6);
  }
  EXPECT_LT(units[0].segment.words[1].start, units[1].segment.words[0].start);
}

TEST(TextAligner, ImprobableUnitsAreAlignedOneByOne) {
  std::vector units{unit("one two", 1, 9), unit("three four", 11, 19)};
  EvenDecoder decoder;
  decoder.believed = 2;
  align(units, decoder);
  EXPECT_THAT(decoder.window_starts, ElementsAre(50, 50, 1050));
  EXPECT_NEAR(units[1].score, 0.9, 1e-6);
  EXPECT_GE(units[1].segment.start, 10.5);
}

TEST(TextAligner, UncertainUnitsAreSearchedTogether) {
  std::vector units{unit("one two", 1, 4), unit("three four", 4, 12), unit("five six", 12, 20), unit("ten", 20, 22)};
  units[1].is_sure = units[2].is_sure = false;
  EvenDecoder decoder;
  align(units, decoder);
  EXPECT_THAT(decoder.window_starts, ElementsAre(50, 350, 1950));
  units[2].segment.end = 45;
  align(units, decoder);
  EXPECT_THAT(units[1].refused, HasSubstr("not found"));
  EXPECT_THAT(units[2].refused, HasSubstr("not found"));
  EXPECT_THAT(units[3].refused, IsEmpty());
}

TEST(TextAligner, UnitTooLongOrBehindTheEndIsRefused) {
  std::vector units{unit("endless", 1, 35), unit("short", 36, 38), unit("late", 61, 62)};
  EvenDecoder decoder;
  align(units, decoder);
  EXPECT_THAT(units[0].refused, HasSubstr("longer than the model's window"));
  EXPECT_THAT(units[1].refused, IsEmpty());
  EXPECT_THAT(units[2].refused, HasSubstr("behind the end"));
  EXPECT_EQ(decoder.window_starts.size(), 1U);
}

}  // namespace
}  // namespace tutti
