#include <gtest/gtest.h>

#include "generated_text.h"
#include "golden.h"
#include "support/test_data.h"
#include "text/tokenizer.h"
#include "tokenizer_folder.h"

using namespace tutti;
using nlohmann::json;

namespace {

using Ids = std::vector<std::int32_t>;

/// One file to load, and whose values it must give.
struct Case {
  const char* name;
  const char* file;
  const char* model;
};

class TokenizerParity : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const auto file = file_of(GetParam());
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "needs shared test data: " << GetParam().file;
    all_ = golden("tokenizer.json");
    expected_ = all_.at(GetParam().model);
    n_vocab_ = expected_.at("n_vocab");
    auto loaded = Tokenizer::load(file, n_vocab_);
    ASSERT_TRUE(loaded) << loaded.error().text();
    tokenizer_.emplace(std::move(*loaded));
  }

  /// The file or folder of a case, or its replacement where there is no shared data.
  std::filesystem::path file_of(const Case& made) const {
    const std::filesystem::path name = made.file;
    if (name == "whisper-tiny.en")
      return std::filesystem::exists(test_data() / name) ? test_data() / name : real_model();
    if (name == "tokenizer/multilingual")
      return multilingual_json(folder_, name / "tokenizer.json", 51865).parent_path();
    if (name == "tokenizer/large-v3/tokenizer.json") return multilingual_json(folder_, name, 51866);
    return test_data() / name;
  }

  /// Compares `of(index)` for every generated index, hashed a block at a time.
  template <class Fn>
  void expect_blocks(const char* what, Fn&& of) {
    const std::uint64_t block = all_.at("block");
    const json& hashes = expected_.at(what);
    for (std::uint64_t i = 0; i < hashes.size(); ++i) {
      Fnv fnv;
      for (std::uint64_t index = i * block; index < (i + 1) * block; ++index) of(fnv, index);
      ASSERT_EQ(fnv.hex(), hashes[i]) << what << " differs in strings " << i * block << " to " << (i + 1) * block - 1;
    }
  }

  TempFolder folder_;
  json all_, expected_;
  std::int32_t n_vocab_ = 0;
  std::optional<Tokenizer> tokenizer_;
};

}  // namespace

TEST(GeneratedText, IsWhatTheGoldenScriptMade) {
  const json all = golden("tokenizer.json");
  Fnv fnv;
  const std::uint64_t count = all.at("en").at("encode").size() * all.at("block").get<std::uint64_t>();
  for (std::uint64_t i = 0; i < count; ++i) fnv.add_text(generated_text(i));
  EXPECT_EQ(fnv.hex(), all.at("texts"));
}

TEST(CharacterClasses, EveryCodePointHasTheReferencesClass) {
  TUTTI_NEEDS("tokenizer/gpt2.tiktoken");
  const Tokenizer tokenizer = Tokenizer::load(test_data() / "tokenizer/gpt2.tiktoken").value();
  constexpr char32_t kLast = 0x32400, kBlock = 0x2000;  // as in tools/golden/tokenizer.py
  const json hashes = golden("tokenizer.json").at("code_points");
  for (char32_t start = 0; start < kLast; start += kBlock) {
    Fnv fnv;
    for (char32_t value = start; value < std::min<char32_t>(start + kBlock, kLast); ++value) {
      if (value >= 0xD800 && value <= 0xDFFF) continue;
      std::string c;
      append_utf8(c, value);
      fnv.add_ids(tokenizer.encode("a" + c + "1" + c + "$" + c + " " + c + "\n" + c + c + "'s"));
    }
    EXPECT_EQ(fnv.hex(), hashes.at(start / kBlock)) << "from U+" << std::hex << static_cast<unsigned>(start);
  }
}

TEST_P(TokenizerParity, LiteralTextsBecomeTheIdsOfTheReference) {
  for (const json& pair : expected_.at("literal"))
    EXPECT_EQ(tokenizer_->encode(pair[0].get<std::string>()), pair[1].get<Ids>()) << pair[0];
}

TEST_P(TokenizerParity, TwelveThousandGeneratedTextsBecomeTheIdsOfTheReference) {
  expect_blocks("encode", [&](Fnv& fnv, auto index) { fnv.add_ids(tokenizer_->encode(generated_text(index))); });
}

TEST_P(TokenizerParity, AnyIdsBecomeTheTextOfTheReference) {
  expect_blocks("decode",
                [&](Fnv& fnv, auto index) { fnv.add_text(tokenizer_->decode(generated_ids(index, n_vocab_))); });
  expect_blocks("decode_with_timestamps", [&](Fnv& fnv, auto index) {
    fnv.add_text(tokenizer_->decode_with_timestamps(generated_ids(index, n_vocab_)));
  });
}

TEST_P(TokenizerParity, SpecialTokensAreThoseOfTheReference) {
  const SpecialTokens& special = tokenizer_->special();
  const json& ids = expected_.at("special");
  EXPECT_EQ(special.eot, ids.at("eot"));
  EXPECT_EQ(special.sot, ids.at("sot"));
  EXPECT_EQ(special.translate, ids.at("translate"));
  EXPECT_EQ(special.transcribe, ids.at("transcribe"));
  EXPECT_EQ(special.sot_lm, ids.at("sot_lm"));
  EXPECT_EQ(special.sot_prev, ids.at("sot_prev"));
  EXPECT_EQ(special.no_speech, ids.at("no_speech"));
  EXPECT_EQ(special.no_timestamps, ids.at("no_timestamps"));
  EXPECT_EQ(special.timestamp_begin, ids.at("timestamp_begin"));
  EXPECT_EQ(special.languages, expected_.at("languages").get<Ids>());
  EXPECT_EQ(special.language_codes.size(), special.languages.size());
  EXPECT_EQ(special.multilingual, std::string(GetParam().model) != "en");
}

TEST_P(TokenizerParity, NonSpeechTokensAreThoseOfTheReference) {
  EXPECT_EQ(tokenizer_->non_speech_tokens(), expected_.at("non_speech").get<Ids>());
}

INSTANTIATE_TEST_SUITE_P(Files, TokenizerParity,
                         testing::Values(Case{"gpt2_tiktoken", "tokenizer/gpt2.tiktoken", "en"},
                                         Case{"english_json", "tokenizer/en/tokenizer.json", "en"},
                                         Case{"model_folder", "whisper-tiny.en", "en"},
                                         Case{"multilingual_tiktoken", "tokenizer/multilingual.tiktoken",
                                              "multilingual"},
                                         Case{"multilingual_json", "tokenizer/multilingual", "multilingual"},
                                         Case{"large_v3_tiktoken", "tokenizer/multilingual.tiktoken", "large-v3"},
                                         Case{"large_v3_json", "tokenizer/large-v3/tokenizer.json", "large-v3"}),
                         [](const auto& made) { return made.param.name; });
