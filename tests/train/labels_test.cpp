#include "train/whisper/labels.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "train/evaluation/set_decoder.h"
#include "train/whisper/new_vocabulary.h"

namespace tutti {
namespace {

// Of a vocabulary of bytes.
constexpr std::int32_t kEot = 256, kSot = 257, kNoSpeech = 262, kNoTimes = 263, kTime = 264;

Labels labels(double timestamps, std::int32_t n_text_ctx = 32) {
  auto vocabulary = new_vocabulary("bytes").value();
  return Labels::make(vocabulary.tokenizer,
                      {.timestamps = timestamps, .seed = 3, .n_text_ctx = n_text_ctx, .n_vocab = vocabulary.n_vocab})
      .value();
}

using Ids = std::vector<std::int32_t>;

TEST(Labels, TargetsAreTheInputsShiftedByOneToken) {
  const auto row = labels(0).row({.id = "a", .text = "hi", .frames = 100}, 0).value();
  EXPECT_EQ(row.decoder_input, (Ids{kSot, kNoTimes, ' ', 'h', 'i'}));
  EXPECT_EQ(row.targets, (Ids{kNoTimes, ' ', 'h', 'i', kEot}));
}

TEST(Labels, TheLongestTextThatIsLearnedCanBeWrittenDown) {
  const auto row = labels(0, 32).row({.id = "a", .text = std::string(29, 'x'), .frames = 100}, 0).value();
  ASSERT_EQ(row.decoder_input.size(), 32U);
  constexpr std::size_t kPrompt = 2;
  EXPECT_EQ(most_tokens(32, kPrompt), std::ssize(row.targets) - std::ssize(Ids{kNoTimes}));
}

TEST(Labels, TimedTextIsEnclosedByStartAndEndTimestamps) {
  const auto row = labels(1).row({.id = "a", .text = "hi", .frames = 150}, 0).value();
  EXPECT_EQ(row.decoder_input, (Ids{kSot, kTime, ' ', 'h', 'i', kTime + 75}));
}

TEST(Labels, KnownTimesAreUsed) {
  const BatchSample sample{.id = "a", .text = "x y", .frames = 400, .times = {{0.5, 1, "x"}, {2, 3.02, "y"}}};
  const auto row = labels(1).row(sample, 0).value();
  EXPECT_EQ(row.decoder_input, (Ids{kSot, kTime + 25, ' ', 'x', kTime + 50, kTime + 100, ' ', 'y', kTime + 151}));
}

TEST(Labels, TimedWordsSetTheEnclosingTimestamps) {
  const BatchSample sample{.id = "a", .text = "x y", .frames = 400, .words = {{0.5, 1, "x"}, {2, 3.02, " y"}}};
  const auto row = labels(1).row(sample, 0).value();
  EXPECT_EQ(row.decoder_input, (Ids{kSot, kTime + 25, ' ', 'x', ' ', 'y', kTime + 151}));
}

/// As field note 004's trainer has them; its marks are spelled here.
TEST(Labels, MarksOfMorseAreBeforeTextsAndInPlaceOfNone) {
  auto vocabulary = new_vocabulary("bytes").value();
  const auto marked =
      Labels::make(vocabulary.tokenizer, {.morse_marks = true, .n_text_ctx = 32, .n_vocab = vocabulary.n_vocab})
          .value();
  const auto text_of = [&](const std::string& text) {
    const auto row = marked.row({.id = "a", .text = text, .frames = 100}, 0).value();
    return std::string(row.decoder_input.begin() + 2, row.decoder_input.end());
  };
  EXPECT_EQ(text_of("CQ"), " <|morse|> CQ");
  EXPECT_EQ(text_of(""), " <|noise|>");
}

TEST(Labels, SilenceTargetsAreNoSpeechAndEndOfText) {
  const auto plain = labels(0).row({.id = "a", .text = "", .frames = 100}, 0).value();
  EXPECT_EQ(plain.decoder_input, (Ids{kSot, kNoTimes}));
  EXPECT_EQ(plain.targets, (Ids{kNoSpeech, kEot}));
  const auto timed = labels(1).row({.id = "a", .text = "", .frames = 100}, 0).value();
  EXPECT_EQ(timed.decoder_input, (Ids{kSot, kTime}));
  EXPECT_EQ(timed.targets, (Ids{kNoSpeech, kEot}));
}

TEST(Labels, TheShareWithTimesIsDrawnBySampleAndEpoch) {
  const auto some = labels(0.3);
  int timed = 0, changed = 0;
  for (int i = 0; i < 1000; ++i) {
    const BatchSample sample{.id = std::to_string(i), .text = "x", .frames = 100};
    const auto first = some.row(sample, 0).value();
    EXPECT_EQ(first.decoder_input, some.row(sample, 0)->decoder_input);
    timed += first.decoder_input[1] == kTime ? 1 : 0;
    changed += first.decoder_input != some.row(sample, 1)->decoder_input ? 1 : 0;
  }
  EXPECT_NEAR(timed, 300, 50);
  EXPECT_GT(changed, 300);
}

TEST(Labels, ATextTooLongForTheContextIsRefusedByName) {
  const auto row = labels(0, 8).row({.id = "long one", .text = "abcdefghijk", .frames = 100}, 0);
  ASSERT_FALSE(row);
  EXPECT_NE(row.error().what.find("'long one'"), std::string::npos);
}

TEST(StartOfText, OnlyMultilingualModelsGetLanguageAndTranscribeTokens) {
  const auto tokenizer = new_vocabulary("multilingual").value().tokenizer;
  const auto& special = tokenizer.special();
  EXPECT_EQ(start_of_text(tokenizer, "de", false).value(),
            (Ids{special.sot, *special.language_token("de"), special.transcribe}));
  EXPECT_EQ(start_of_text(tokenizer, "de", true).value(),
            (Ids{special.sot, *special.language_token("de"), special.translate}));
  EXPECT_EQ(start_of_text(tokenizer, "xx", false).error().fault, Fault::usage);
  EXPECT_EQ(start_of_text(new_vocabulary("bytes").value().tokenizer, "xx", true).value(), (Ids{kSot}));
}

TEST(NewVocabulary, ByteVocabularyAllowsLeadingSpaceAndAnyByte) {
  const auto bytes = new_vocabulary("bytes").value().tokenizer;
  EXPECT_TRUE(bytes.blank().empty()) << "every word begins with the space's token";
  EXPECT_TRUE(bytes.non_speech_tokens().empty());
  const auto whispers = new_vocabulary("english").value().tokenizer;
  EXPECT_EQ(whispers.blank(), (Ids{220}));
  EXPECT_FALSE(whispers.non_speech_tokens().empty());
}

TEST(Labels, ShortRowsArePaddedWithIgnoredTargets) {
  const auto tensors = label_tensors({{{1, 2, 3}, {2, 3, 4}}, {{5}, {6}}}, 9);
  EXPECT_TRUE(at::equal(tensors.decoder_input, at::tensor({1, 2, 3, 5, 9, 9}, at::kLong).view({2, 3})));
  EXPECT_TRUE(at::equal(tensors.targets, at::tensor({2, 3, 4, 6, -100, -100}, at::kLong).view({2, 3})));
}

}  // namespace
}  // namespace tutti
