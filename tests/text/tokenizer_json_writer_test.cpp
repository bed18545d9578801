#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "small_tokenizer.h"
#include "support/test_data.h"
#include "text/tokenizer.h"

using namespace tutti;
using nlohmann::json;

namespace {

const std::string kText = " Mr. Smith didn't travel for 225 dollars, naïve as he was: 你好 \xF0\x9F\x8E\x99\n\n  ok";

json written(const std::string& file, std::int32_t n_vocab) {
  return json::parse(
      Tokenizer::load(test_data() / ("tokenizer/" + std::string(file)), n_vocab).value().to_json(n_vocab));
}

}  // namespace

TEST(TokenizerJson, OpenAisEnglishVocabularyBecomesHuggingFacesFile) {
  TUTTI_NEEDS("tokenizer/en/tokenizer.json");
  const auto ours = written("gpt2.tiktoken", 51864);
  auto theirs = json::parse(read_file(test_data() / "tokenizer/en/tokenizer.json").value());
  theirs["model"]["vocab"].erase("<|endoftext|>");
  EXPECT_EQ(ours["model"]["vocab"], theirs["model"]["vocab"]);
  EXPECT_EQ(ours["model"]["merges"], theirs["model"]["merges"]);
  for (const char* part : {"pre_tokenizer", "decoder", "normalizer"}) EXPECT_EQ(ours[part], theirs[part]) << part;
  // Their older files name no timestamps: faster-whisper ships such a one.
  const std::size_t kBeforeTimestamps = 107;
  if (theirs["added_tokens"].size() != kBeforeTimestamps) {
    ASSERT_EQ(ours["added_tokens"].size(), theirs["added_tokens"].size());
  }
  for (std::size_t i = 0; i < theirs["added_tokens"].size(); ++i)
    EXPECT_EQ(ours["added_tokens"][i]["id"], theirs["added_tokens"][i]["id"]) << i;
}

TEST(TokenizerJson, WrittenTokenizerReadsBackEqual) {
  TUTTI_NEEDS("tokenizer/multilingual.tiktoken");
  for (const std::int32_t n_vocab : {51865, 51866}) {
    const auto from = Tokenizer::load(test_data() / "tokenizer/multilingual.tiktoken", n_vocab).value();
    const auto again = Tokenizer::parse(from.to_json(n_vocab), n_vocab).value();
    EXPECT_EQ(again.encode(kText), from.encode(kText));
    EXPECT_EQ(again.decode(from.encode(kText)), kText);
    EXPECT_EQ(again.special().languages, from.special().languages);
    EXPECT_EQ(again.special().timestamp_begin, from.special().timestamp_begin);
  }
}

TEST(TokenizerJson, AVocabularyOfOurOwnKeepsItsMergesAndTokens) {
  const auto from = Tokenizer::parse(small_tokenizer().dump(), 320).value();
  const auto ours = json::parse(from.to_json(320));
  EXPECT_EQ(ours["model"]["merges"], (json{"a b", "ab c"}));
  EXPECT_EQ(ours["model"]["vocab"], small_tokenizer()["model"]["vocab"]);
  EXPECT_EQ(ours["added_tokens"].back()["content"], "<|0.18|>");
  const auto again = Tokenizer::parse(ours.dump(), 320).value();
  EXPECT_EQ(again.encode("xabcab"), from.encode("xabcab"));
}
