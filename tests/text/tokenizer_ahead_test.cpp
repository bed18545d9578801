#include <gtest/gtest.h>

#include "support/test_data.h"
#include "text/tokenizer.h"
#include "tokenizer_folder.h"

using namespace tutti;

TEST(TokenizerAhead, GivesTheTokenizerOnceTheVocabularySizeIsKnown) {
  TUTTI_NEEDS("tokenizer/multilingual.tiktoken");
  const auto path = test_data() / "tokenizer/multilingual.tiktoken";
  for (const std::int32_t n_vocab : {51865, 51866}) {
    TokenizerAhead ahead(path);
    const auto tokenizer = ahead.get(n_vocab);
    ASSERT_TRUE(tokenizer) << tokenizer.error().text();
    const auto expected = Tokenizer::load(path, n_vocab).value();
    EXPECT_EQ(tokenizer->special().timestamp_begin, expected.special().timestamp_begin);
    EXPECT_EQ(tokenizer->special().languages, expected.special().languages);
    EXPECT_EQ(tokenizer->encode(" ask not what"), expected.encode(" ask not what"));
  }
}

TEST(TokenizerAhead, ATokenizerOfAnotherModelIsTheErrorThatLoadingGives) {
  const TempFolder written;
  const auto folder = multilingual_json(written, "tokenizer/multilingual/tokenizer.json", 51865).parent_path();
  TokenizerAhead ahead(folder);
  const auto tokenizer = ahead.get(51864);
  ASSERT_FALSE(tokenizer);
  EXPECT_EQ(tokenizer.error().what, Tokenizer::load(folder, 51864).error().what);
}
