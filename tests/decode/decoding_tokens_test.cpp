#include "decode/decoding_tokens.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "text/tokenizer.h"

namespace tutti {
namespace {

const SpecialTokens kSmall{
    .eot = 90, .sot = 91, .no_speech = 92, .no_timestamps = 93, .timestamp_begin = 95, .languages = {94}};

std::string complaint(const std::function<void(SpecialTokens&)>& spoil, std::int32_t blank = 1) {
  auto special = kSmall;
  spoil(special);
  const auto tokens = decoding_tokens(special, {blank}, 100);
  return tokens ? "" : tokens.error().text();
}

TEST(DecodingTokensOfATokenizer, EveryIdOutsideTheVocabularyIsNamed) {
  const auto names = [](const std::string& text, const char* token) { return text.find(token) != std::string::npos; };
  EXPECT_EQ(complaint([](auto&) {}), "");
  EXPECT_TRUE(names(complaint([](auto& s) { s.eot = 900000; }), "<|endoftext|> is token 900000"));
  EXPECT_TRUE(names(complaint([](auto& s) { s.sot = -1; }), "<|startoftranscript|> is token -1"));
  EXPECT_TRUE(names(complaint([](auto& s) { s.no_timestamps = 100; }), "<|notimestamps|> is token 100"));
  EXPECT_TRUE(names(complaint([](auto& s) { s.no_speech = -7; }), "<|nospeech|> is token -7"));
  EXPECT_TRUE(names(complaint([](auto& s) { s.timestamp_begin = 100; }), "<|0.00|> is token 100"));
  EXPECT_TRUE(names(complaint([](auto& s) { s.languages = {5, 100}; }), "a language is token 100"));
  EXPECT_TRUE(names(complaint([](auto&) {}, 100), "a single space is token 100"));
}

TEST(DecodingTokensOfATokenizer, TokensMissingFromTheVocabularyAreAbsent) {
  auto special = kSmall;
  special.no_speech = 0;
  special.no_timestamps = 0;
  const auto tokens = decoding_tokens(special, {}, 100);
  ASSERT_TRUE(tokens) << tokens.error().text();
  EXPECT_EQ(tokens->no_speech, std::nullopt);
  EXPECT_EQ(tokens->no_timestamps, std::nullopt);
}

}  // namespace
}  // namespace tutti
