#include "text/word_split.h"

#include <gtest/gtest.h>

#include "generated_text.h"
#include "golden.h"
#include "support/test_data.h"

using namespace tutti;
using nlohmann::json;

namespace {

using Ids = std::vector<std::int32_t>;

const Tokenizer& vocabulary(const std::string& name) {
  const auto load = [](const char* file, std::int32_t n_vocab) {
    return Tokenizer::load(test_data() / ("tokenizer/" + std::string(file)), n_vocab).value();
  };
  static const std::map<std::string, Tokenizer> loaded{{"en", load("gpt2.tiktoken", 51864)},
                                                       {"multilingual", load("multilingual.tiktoken", 51865)},
                                                       {"large-v3", load("multilingual.tiktoken", 51866)}};
  return loaded.at(name);
}

class WordSplit : public testing::Test {
 protected:
  void SetUp() override {
    TUTTI_NEEDS("tokenizer/gpt2.tiktoken");
    TUTTI_NEEDS("tokenizer/multilingual.tiktoken");
    golden_ = golden("word_split.json");  // tools/golden/word_split.py
  }
  json golden_;
};

}  // namespace

TEST_F(WordSplit, LiteralTextsBecomeTheReferencesWordsInEveryLanguage) {
  for (const json& made : golden_.at("cases")) {
    const std::string language = made.at("language");
    for (const json& row : made.at("literal")) {
      std::vector<std::string> texts;
      std::vector<Ids> ids;
      for (const SpelledWord& word : split_to_words(vocabulary(made.at("vocabulary")), row[0].get<Ids>(), language)) {
        texts.push_back(word.text);
        ids.push_back(word.ids);
      }
      EXPECT_EQ(texts, row[1].get<std::vector<std::string>>()) << language;
      EXPECT_EQ(ids, row[2].get<std::vector<Ids>>()) << language << " " << row[1];
    }
  }
}

TEST_F(WordSplit, GeneratedTextsAndAnyIdsBecomeTheReferencesWords) {
  const std::uint64_t block = golden_.at("block");
  for (const json& made : golden_.at("cases")) {
    const std::string language = made.at("language");
    const Tokenizer& tokenizer = vocabulary(made.at("vocabulary"));
    const json& hashes = made.at("generated");
    for (std::uint64_t i = 0; i < hashes.size(); ++i) {
      Fnv fnv;
      for (std::uint64_t index = i * block; index < (i + 1) * block; ++index) {
        Ids text = tokenizer.encode(generated_text(index));
        const Ids open = generated_ids(index, tokenizer.special().eot);
        Ids closed = open;
        text.push_back(tokenizer.special().eot);
        closed.push_back(tokenizer.special().eot);
        for (const Ids& ids : {text, closed, open}) {
          for (const SpelledWord& word : split_to_words(tokenizer, ids, language)) {
            fnv.add_text(word.text);
            fnv.add_ids(word.ids);
          }
          fnv.add_ids({});
        }
      }
      ASSERT_EQ(fnv.hex(), hashes[i]) << language << ", block " << i;
    }
  }
}
