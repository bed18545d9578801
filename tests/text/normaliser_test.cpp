#include "text/normaliser.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "generated_text.h"
#include "golden.h"

using namespace tutti;
using nlohmann::json;

namespace {

using Normalise = std::function<std::string(const std::string&)>;

const std::map<std::string, Normalise>& normalisers() {
  static const std::map<std::string, Normalise> all = {
      {"basic", [](const auto& text) { return normalise_basic(text); }},
      {"basic_plain", [](const auto& text) { return normalise_basic(text, {.remove_diacritics = true}); }},
      {"basic_split", [](const auto& text) { return normalise_basic(text, {.split_letters = true}); }},
      {"basic_plain_split",
       [](const auto& text) { return normalise_basic(text, {.remove_diacritics = true, .split_letters = true}); }},
      {"english", [](const auto& text) { return normalise_english(text); }},
  };
  return all;
}

const json& expected() {
  static const json values = golden("normaliser.json");
  return values;
}

void expect_blocks(const json& hashes, const Normalise& make) {
  const std::uint64_t block = expected().at("block");
  for (std::uint64_t i = 0; i < hashes.size(); ++i) {
    Fnv fnv;
    for (std::uint64_t index = i * block; index < (i + 1) * block; ++index) fnv.add_text(make(std::to_string(index)));
    EXPECT_EQ(fnv.hex(), hashes[i]) << "in strings " << i * block << " to " << (i + 1) * block - 1;
  }
}

}  // namespace

TEST(Normaliser, TheGeneratedEnglishIsWhatTheGoldenScriptMade) {
  expect_blocks(expected().at("texts"), [](const std::string& index) { return generated_english(std::stoull(index)); });
}

TEST(Normaliser, LiteralTextsComeOutAsFromTheReference) {
  for (const json& row : expected().at("literal"))
    for (const auto& [name, normalise] : normalisers())
      EXPECT_EQ(normalise(row.at("text")), row.at(name).get<std::string>()) << name << " of " << row.at("text");
}

TEST(Normaliser, EnglishSentencesComeOutAsFromTheReference) {
  for (const json& row : expected().at("literal_english"))
    EXPECT_EQ(normalise_english(row[0].get<std::string>()), row[1].get<std::string>()) << row[0];
}

TEST(Normaliser, TwelveThousandEnglishTextsComeOutAsFromTheReference) {
  expect_blocks(expected().at("english_texts"),
                [](const std::string& index) { return normalise_english(generated_english(std::stoull(index))); });
}

TEST(Normaliser, TextsOfAllScriptsComeOutAsFromTheReference) {
  for (const auto& [name, normalise] : normalisers()) {
    SCOPED_TRACE(name);
    expect_blocks(expected().at("any_texts").at(name),
                  [&](const std::string& index) { return normalise(generated_text(std::stoull(index))); });
  }
}
