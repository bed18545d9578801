#include "model/alignment_heads.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "support/temp_folder.h"
#include "support/test_data.h"

namespace tutti {
namespace {

using Heads = std::vector<AttentionHead>;

constexpr WhisperDims kTiny{.n_vocab = 51864, .n_text_head = 6, .n_text_layer = 4};
constexpr WhisperDims kLarge{.n_vocab = 51865, .n_text_head = 20, .n_text_layer = 32};
constexpr WhisperDims kUnknown{.n_vocab = 51865, .n_text_head = 2, .n_text_layer = 3};

TEST(AlignmentHeads, AreWhatTheFolderLists) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder.path() / "generation_config.json",
                                    R"({"alignment_heads": [[2, 1], [0, 0], [2, 1]]})")
                  .has_value());
  EXPECT_EQ(alignment_heads(folder.path(), kTiny), (Heads{{0, 0}, {2, 1}}));
}

TEST(AlignmentHeads, AListThatDoesNotFitIsPassedOver) {
  const TempFolder folder;
  for (const char* list : {R"([[4, 0]])", R"([[0, 6]])", R"([[-1, 0]])", R"([[1]])", R"(["a"])", R"([])", R"({})"}) {
    ASSERT_TRUE(write_file_atomically(folder.path() / "generation_config.json",
                                      std::string(R"({"alignment_heads": )") + list + "}")
                    .has_value());
    EXPECT_EQ(alignment_heads(folder.path(), kTiny), openai_alignment_heads(kTiny, false)) << list;
  }
}

TEST(AlignmentHeads, PublishedShapeUsesOpenAisHeads) {
  const auto tiny = alignment_heads("/nowhere/tiny.en.pt", kTiny);
  EXPECT_EQ(tiny, (Heads{{1, 0}, {2, 0}, {2, 5}, {3, 0}, {3, 1}, {3, 2}, {3, 3}, {3, 4}}));
  EXPECT_EQ(alignment_heads("/nowhere/large-v2.pt", kLarge).size(), 23U);
  EXPECT_EQ(alignment_heads("/nowhere/large-v1.pt", kLarge).size(), 9U);
  auto v3 = kLarge;
  v3.n_mels = 128;
  v3.n_vocab = 51866;
  EXPECT_EQ(alignment_heads("/nowhere/large-v3.pt", v3).size(), 10U);
}

TEST(AlignmentHeads, UnknownShapeUsesTheUpperHalf) {
  EXPECT_EQ(alignment_heads("/nowhere", kUnknown), (Heads{{1, 0}, {1, 1}, {2, 0}, {2, 1}}));
}

TEST(AlignmentHeads, TheListInTheSharedModelIsOpenAisOwn) {
  TUTTI_NEEDS("whisper-tiny.en/generation_config.json");
  EXPECT_EQ(alignment_heads((test_data() / "whisper-tiny.en/generation_config.json").parent_path(), kTiny),
            openai_alignment_heads(kTiny, false));
}

}  // namespace
}  // namespace tutti
