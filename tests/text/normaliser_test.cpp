#include "text/normaliser.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

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

/// Compares `make(index)` for every index but those in `left_out`, hashed a block at a time.
void expect_blocks(const json& hashes, const std::function<std::string(std::uint64_t)>& make,
                   const std::set<std::uint64_t>& left_out = {}) {
  const std::uint64_t block = expected().at("block");
  for (std::uint64_t i = 0; i < hashes.size(); ++i) {
    Fnv fnv;
    for (std::uint64_t index = i * block; index < (i + 1) * block; ++index)
      if (!left_out.contains(index)) fnv.add_text(make(index));
    EXPECT_EQ(fnv.hex(), hashes[i]) << "in strings " << i * block << " to " << (i + 1) * block - 1;
  }
}

}  // namespace

TEST(Normaliser, TheGeneratedEnglishIsWhatTheGoldenScriptMade) {
  expect_blocks(expected().at("texts"), generated_english);
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
  expect_blocks(expected().at("english_texts"), [](auto index) { return normalise_english(generated_english(index)); });
}

TEST(Normaliser, TextsOfAllScriptsComeOutAsFromTheReference) {
  // Characters of the newest Unicode differ from one installation of the reference to the next.
  const auto recent = expected().at("recent").get<std::set<std::uint64_t>>();
  ASSERT_LT(recent.size(), 100u);
  for (const auto& [name, normalise] : normalisers()) {
    SCOPED_TRACE(name);
    expect_blocks(
        expected().at("any_texts").at(name), [&](auto index) { return normalise(generated_text(index)); }, recent);
  }
}

TEST(EnglishLines, ANumberEndsWithItsLine) {
  EXPECT_EQ(normalise_english("Two\nThree\n4"), "23 4") << "as the reference reads them";
  EXPECT_EQ(normalise_english_lines("One\nTwo\n\n3\nfour\nfive\nsix\n"), "one 2 3 4 5 6")
      << "of 1 the reference makes a word";
  EXPECT_EQ(normalise_english_lines("twenty five\n[music\nplaying] Mr. Smith"), "25 mister smith");
  EXPECT_EQ(normalise_english_lines(""), "");
}
