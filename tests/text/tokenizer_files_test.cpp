#include <gtest/gtest.h>

#include "base/files.h"
#include "golden.h"
#include "small_tokenizer.h"
#include "support/temp_folder.h"
#include "support/test_data.h"
#include "text/files/vocabulary_files.h"
#include "text/languages.h"
#include "text/tokenizer.h"
#include "tokenizer_folder.h"

using namespace tutti;
using nlohmann::json;
using Ids = std::vector<std::int32_t>;

namespace {

/// The text of the error that `content` must give.
std::string refusal(const std::string& content, std::optional<std::int32_t> n_vocab = {}) {
  const auto tokenizer = Tokenizer::parse(content, n_vocab);
  if (tokenizer) return "it was accepted";
  EXPECT_NE(tokenizer.error().fault, Fault::internal);
  return tokenizer.error().text();
}

std::string contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos ? part : text;
}

#define EXPECT_ERROR_TEXT(text, part) EXPECT_EQ(contains(text, part), part)

}  // namespace

TEST(TokenizerFile, AVocabularyOfOurOwnGetsItsSpecialTokensByName) {
  const auto tokenizer = Tokenizer::parse(small_tokenizer().dump(), 320).value();
  const SpecialTokens& special = tokenizer.special();
  EXPECT_EQ(special.eot, 300);
  EXPECT_EQ(special.language_codes, (std::vector<std::string>{"en", "de"}));
  EXPECT_EQ(special.languages, (Ids{302, 303}));
  EXPECT_EQ(special.timestamp_begin, 310);
  EXPECT_TRUE(special.multilingual);
  EXPECT_EQ(tokenizer.encode("xabcab"), (Ids{'x', 257, 256}));
  EXPECT_EQ(tokenizer.decode(Ids{300, 257, 302, 310, 311, 280, -5}), "<|endoftext|>abc<|en|>");
  EXPECT_EQ(tokenizer.decode_with_timestamps(Ids{310, 257, 364}), "<|0.00|>abc<|1.08|>");
  EXPECT_EQ(tokenizer.sot_sequence("de", special.translate), (Ids{301, 303, 304}));
  EXPECT_THROW(tokenizer.sot_sequence("fr", special.transcribe), std::invalid_argument);
}

TEST(TokenizerFile, ATokenAddedByOthersIsWrittenOutAndNeverRead) {
  json small = small_tokenizer();
  small["added_tokens"].push_back({{"id", 290}, {"content", "abcab"}});
  const auto tokenizer = Tokenizer::parse(small.dump()).value();
  EXPECT_EQ(tokenizer.decode(Ids{'x', 290}), "xabcab");
  EXPECT_EQ(tokenizer.encode("abcab"), (Ids{257, 256}));
}

TEST(TokenizerFile, TimestampsNotNamedFollowTheLastSpecialToken) {
  json small = small_tokenizer();
  small["added_tokens"].erase(10);
  EXPECT_EQ(Tokenizer::parse(small.dump()).value().special().timestamp_begin, 310);
}

TEST(TokenizerFile, WithoutLanguagesAModelIsNotMultilingual) {
  json small = small_tokenizer();
  small["added_tokens"].erase(2);
  small["added_tokens"].erase(2);
  const auto tokenizer = Tokenizer::parse(small.dump()).value();
  EXPECT_FALSE(tokenizer.special().multilingual);
  EXPECT_EQ(tokenizer.sot_sequence("en", tokenizer.special().transcribe), (Ids{301}));
}

TEST(TokenizerFile, MergesMayBeWrittenAsPairs) {
  json small = small_tokenizer();
  small["model"]["merges"] = {{"a", "b"}, {"ab", "c"}};
  EXPECT_EQ(Tokenizer::parse(small.dump()).value().encode("xabcab"), (Ids{'x', 257, 256}));
}

TEST(TokenizerFile, TheOrderOfTheMergesDecides) {
  json small = small_tokenizer();
  small["model"]["vocab"]["bc"] = 258;
  small["model"]["merges"] = {"b c", "a b", "ab c"};
  const auto tokenizer = Tokenizer::parse(small.dump()).value();
  EXPECT_EQ(tokenizer.encode("xabcx"), (Ids{'x', 'a', 258, 'x'}));
  EXPECT_EQ(tokenizer.encode("xabx"), (Ids{'x', 256, 'x'}));
}

TEST(TokenizerFile, ALostMergeIsMadeUpForByTheRanks) {
  json small = small_tokenizer();
  small["model"]["merges"] = {"ab c"};
  EXPECT_EQ(Tokenizer::parse(small.dump()).value().encode("xabcab"), (Ids{'x', 257, 256}));
}

TEST(TokenizerFile, DamageIsNamed) {
  json small = small_tokenizer();
  small["model"]["type"] = "WordPiece";
  EXPECT_ERROR_TEXT(refusal(small.dump()), "expected BPE, found 'WordPiece'");

  small = small_tokenizer();
  small["added_tokens"].erase(5);
  EXPECT_ERROR_TEXT(refusal(small.dump()), "added_tokens lacks <|transcribe|>");

  small = small_tokenizer();
  small["added_tokens"].push_back({{"id", 299}, {"content", "<|en|>"}});
  EXPECT_ERROR_TEXT(refusal(small.dump()), "added_tokens has <|en|> twice");

  small = small_tokenizer();
  small["model"]["vocab"].erase("a");
  EXPECT_ERROR_TEXT(refusal(small.dump()), "merge 0 ('a' and 'b')");
  small["model"].erase("merges");
  EXPECT_ERROR_TEXT(refusal(small.dump()), "no token for the byte 97");

  small = small_tokenizer();
  small["model"]["merges"][1] = "abc";
  EXPECT_ERROR_TEXT(refusal(small.dump()), "merge 1: expected two tokens");

  small = small_tokenizer();
  small["model"]["vocab"]["ab"] = 257;
  EXPECT_ERROR_TEXT(refusal(small.dump()), "the id 257 twice");
  small["model"]["vocab"]["ab"] = -3;
  EXPECT_ERROR_TEXT(refusal(small.dump()), "the id of 'ab' is no token id");

  small = small_tokenizer();
  small["model"]["vocab"]["two words"] = 258;
  EXPECT_ERROR_TEXT(refusal(small.dump()), "'two words' is not byte-level");

  EXPECT_ERROR_TEXT(refusal(small_tokenizer().dump(), 310), "tokens up to 310, but the model's vocabulary has 310");
}

TEST(TokenizerFile, TruncatedFileErrorNamesTheByte) {
  const std::string whole = small_tokenizer().dump();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto cut = Tokenizer::parse(whole.substr(0, size));
    ASSERT_FALSE(cut) << "cut to " << size << " bytes";
    EXPECT_FALSE(cut.error().what.empty());
  }
  EXPECT_ERROR_TEXT(refusal(whole.substr(0, 1000)), "damaged JSON at byte 1001, after '");
}

TEST(TokenizerFile, DamagedTiktokenLinesAreNamed) {
  EXPECT_ERROR_TEXT(refusal(""), "empty file");
  EXPECT_ERROR_TEXT(refusal("IQ== 0\nIg== x\n"), "line 2: expected 'base64 rank', found 'Ig== x'");
  EXPECT_ERROR_TEXT(refusal("IQ== 0\nI?== 1\n"), "line 2: expected 'base64 rank'");
  EXPECT_ERROR_TEXT(refusal("IQ== 0\nIg== 2\n"), "line 2: expected rank 1, found 2");
  EXPECT_ERROR_TEXT(refusal("IQ== 0\nIQ== 1\n"), "tokens 0 and 1 are the same bytes");
  EXPECT_ERROR_TEXT(refusal("IQ== 0\nIg== 1\n"), "no token for the byte 0");
  EXPECT_ERROR_TEXT(refusal("IQ== 0\nIg== 1\n", 51865), "2 tokens of text make a vocabulary of 1511 to 1611");
}

TEST(TokenizerFile, WhispersOwnVocabularyMustHaveItsOwnSpecialTokens) {
  TUTTI_NEEDS("tokenizer/en/tokenizer.json");
  json file = json::parse(read_file(test_data() / "tokenizer/en/tokenizer.json").value());
  for (json& token : file["added_tokens"])
    if (token["content"] == "<|transcribe|>") token["id"] = 50400;
  EXPECT_ERROR_TEXT(refusal(file.dump()), "<|transcribe|> should be 50358");
}

TEST(TokenizerFile, TheTokenizerOfAnotherModelIsRefused) {
  const TempFolder written;
  const auto file = multilingual_json(written, "tokenizer/multilingual/tokenizer.json", 51865);
  const auto tokenizer = Tokenizer::load(file.parent_path(), 51866);
  ASSERT_FALSE(tokenizer);
  EXPECT_ERROR_TEXT(tokenizer.error().text(), "The tokenizer belongs to another model");
  EXPECT_ERROR_TEXT(tokenizer.error().text(), "multilingual/tokenizer.json: tokens up to 51864");
}

TEST(TokenizerFile, FolderWithoutTokenizerErrorNamesTheFile) {
  const TempFolder folder;
  const auto tokenizer = Tokenizer::load(folder.path());
  ASSERT_FALSE(tokenizer);
  EXPECT_EQ(tokenizer.error().fault, Fault::missing);
  EXPECT_ERROR_TEXT(tokenizer.error().text(), folder.path().string() + ": expected tokenizer.json");
  EXPECT_EQ(Tokenizer::load(folder / "tokenizer.json").error().fault, Fault::missing);
}

TEST(Languages, AreFoundByCodeNameAndAlias) {
  const json codes = golden("tokenizer.json").at("language_codes");
  for (const auto& [name, code] : codes.items()) EXPECT_EQ(to_language_code(name), code.get<std::string>()) << name;
  for (const WhisperLanguage& language : whisper_languages()) {
    EXPECT_EQ(to_language_code(language.code), language.code);
    EXPECT_EQ(codes.at(std::string(language.name)), language.code);
    EXPECT_EQ(language_name(language.code), language.name);
  }
  EXPECT_EQ(whisper_languages().size(), 100u);
  EXPECT_EQ(to_language_code("Haitian Creole"), "ht");
  EXPECT_EQ(to_language_code("klingon"), std::nullopt);
  EXPECT_EQ(language_name("xx"), std::nullopt);
}

TEST(TokenizerFiles, AnOpenaiCheckpointIsReadWithTheVocabularyOfItsSize) {
  TUTTI_NEEDS("tokenizer/gpt2.tiktoken");
  const std::string text = "Grüße, naïve world — 世界 1234";
  for (const auto& [file, n_vocab] : {std::pair{"gpt2", 51864}, {"multilingual", 51865}, {"multilingual", 51866}}) {
    const auto built_in = Tokenizer::load("/nowhere/model.pt", n_vocab);
    ASSERT_TRUE(built_in) << built_in.error().text();
    const auto path = test_data() / ("tokenizer/" + std::string(file) + ".tiktoken");
    const auto from_file = Tokenizer::load(path, n_vocab);
    EXPECT_EQ(built_in->encode(text), from_file->encode(text)) << n_vocab;
    EXPECT_EQ(openai_vocabulary(n_vocab).tokens, parse_tiktoken(read_file(path).value())->tokens) << n_vocab;
    EXPECT_EQ(built_in->special().no_timestamps, from_file->special().no_timestamps) << n_vocab;
  }
  EXPECT_FALSE(Tokenizer::load("/nowhere/model.pt")) << "which vocabulary?";
}

namespace {

/// Every token of the English tokenizer.json, at its id: what CTranslate2 keeps of it.
std::vector<std::string> english_tokens() {
  const auto tokenizer = json::parse(read_file(test_data() / "tokenizer/en/tokenizer.json").value());
  std::vector<std::string> tokens(51864);
  for (const auto& [token, id] : tokenizer["model"]["vocab"].items()) tokens[id.get<std::size_t>()] = token;
  for (const auto& added : tokenizer["added_tokens"]) tokens[added["id"].get<std::size_t>()] = added["content"];
  for (std::size_t id = 50363; id < tokens.size(); ++id) {  // named as the converter does
    char name[16];
    std::snprintf(name, sizeof name, "<|%.2f|>", 0.02 * static_cast<double>(id - 50363));
    tokens[id] = name;
  }
  return tokens;
}

void expect_same_tokenizer(const Tokenizer& found, const Tokenizer& expected) {
  const std::string text = " Mr. Smith didn't travel for 225 dollars, naïve as he was: 你好 \xF0\x9F\x8E\x99\n\n  ok";
  EXPECT_EQ(found.encode(text), expected.encode(text));
  EXPECT_EQ(found.decode(found.encode(text)), text);
  EXPECT_EQ(found.special().eot, expected.special().eot);
  EXPECT_EQ(found.special().no_speech, expected.special().no_speech);
  EXPECT_EQ(found.special().timestamp_begin, expected.special().timestamp_begin);
  EXPECT_EQ(found.special().multilingual, expected.special().multilingual);
  EXPECT_EQ(found.non_speech_tokens(), expected.non_speech_tokens());
}

}  // namespace

TEST(VocabularyList, FasterWhispersVocabulariesAreTheTokenizerTheyCameFrom) {
  TUTTI_NEEDS("tokenizer/en/tokenizer.json");
  const auto expected = Tokenizer::load(test_data() / "tokenizer/en", 51864).value();
  const auto tokens = english_tokens();
  std::string lines;
  for (const auto& token : tokens) lines += token + "\n";
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "vocabulary.txt", lines));
  expect_same_tokenizer(Tokenizer::load(folder.path(), 51864).value(), expected);
  ASSERT_TRUE(write_file_atomically(folder / "vocabulary.json", json(tokens).dump(2)));
  expect_same_tokenizer(Tokenizer::load(folder.path(), 51864).value(), expected);
}

TEST(VocabularyList, ListsThatAreNoVocabularyAreRefused) {
  EXPECT_ERROR_TEXT(refusal("[1]"), "token 0 is no text");
  EXPECT_ERROR_TEXT(refusal("[\"a\", "), "expected a JSON array");
  EXPECT_ERROR_TEXT(refusal("[\"a\"]"), "expected tokens of text and <|endoftext|>, found 1 and 0");
  EXPECT_ERROR_TEXT(refusal("[\"a b\", \"<|endoftext|>\"]"), "token 0 ('a b') is not byte-level");
  EXPECT_ERROR_TEXT(refusal("[\"a\", \"<|endoftext|>\"]"), "added_tokens lacks");
}

namespace {

std::string number(std::int32_t value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

/// The bytes before the tensors in a whisper.cpp file, with two mel filters of one bin.
std::string ggml_head(const std::vector<std::string>& tokens, std::int32_t n_vocab) {
  std::string file = "lmgg" + number(n_vocab);
  for (int i = 0; i < 10; ++i) file += number(1);
  file += number(2) + number(1) + std::string(8, '\0') + number(static_cast<std::int32_t>(tokens.size()));
  for (const auto& token : tokens) file += number(static_cast<std::int32_t>(token.size())) + token;
  return file;
}

}  // namespace

namespace {

/// small_tokenizer() as transformers writes a tokenizer in several files.
class SeveralFiles : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& content) {
    ASSERT_TRUE(write_file_atomically(folder_ / name, content));
  }
  void write_all() {
    const json small = small_tokenizer();
    write("vocab.json", small["model"]["vocab"].dump());
    write("merges.txt", "#version: 0.2\r\na b\r\nab c\r\n");
    json added = json::object();
    for (const auto& token : small["added_tokens"]) added[token["content"]] = token["id"];
    write("added_tokens.json", added.dump());
  }
  Result<Tokenizer> load() { return Tokenizer::load(folder_.path(), 320); }

  TempFolder folder_;
};

}  // namespace

TEST_F(SeveralFiles, VocabMergesAndAddedTokensAreATokenizer) {
  write_all();
  const auto tokenizer = load();
  ASSERT_TRUE(tokenizer) << tokenizer.error().text();
  EXPECT_EQ(tokenizer->encode("xabcab"), (Ids{'x', 257, 256}));
  EXPECT_EQ(tokenizer->special().eot, 300);
  EXPECT_EQ(tokenizer->special().language_codes, (std::vector<std::string>{"en", "de"}));
  EXPECT_EQ(tokenizer->to_json(320), Tokenizer::parse(small_tokenizer().dump(), 320)->to_json(320));
}

TEST_F(SeveralFiles, EndOfTextAmongTheTokensOfTextIsASpecialToken) {
  write_all();
  const json small = small_tokenizer();
  json vocab = small["model"]["vocab"], added = json::object();
  for (const auto& token : small["added_tokens"])
    (token["content"] == "<|endoftext|>" ? vocab : added)[token["content"]] = token["id"];
  write("vocab.json", vocab.dump());
  write("added_tokens.json", added.dump());
  ASSERT_TRUE(load()) << load().error().text();
  EXPECT_EQ(load()->special().eot, 300);
  EXPECT_EQ(load()->decode(Ids{300}), "<|endoftext|>");
}

TEST_F(SeveralFiles, TokenizerConfigReplacesAddedTokens) {
  write_all();
  std::filesystem::remove(folder_ / "added_tokens.json");
  const json small = small_tokenizer();
  json decoder = json::object();
  for (const auto& token : small["added_tokens"])
    decoder[std::to_string(token["id"].get<int>())] = {{"content", token["content"]}, {"special", true}};
  write("tokenizer_config.json", json{{"added_tokens_decoder", decoder}}.dump());
  ASSERT_TRUE(load()) << load().error().text();
  EXPECT_EQ(load()->special().timestamp_begin, 310);
}

TEST_F(SeveralFiles, DamageErrorNamesFileAndPosition) {
  write_all();
  write("merges.txt", "#version: 0.2\na b\nabc\n");
  EXPECT_ERROR_TEXT(load().error().text(), "merges.txt, line 3: expected two tokens, found 'abc'");
  write_all();
  write("added_tokens.json", R"({"<|en|>": "302"})");
  EXPECT_ERROR_TEXT(load().error().text(), "added_tokens.json: '<|en|>': expected an id, found '302'");
  write_all();
  write("vocab.json", R"(["a"])");
  EXPECT_ERROR_TEXT(load().error().text(), "vocab.json: expected an object of tokens and ids, found a list");
  write("vocab.json", R"({"a": 0, "b": 0})");
  EXPECT_ERROR_TEXT(load().error().text(), "vocab.json gives the id 0 twice");
  std::filesystem::remove(folder_ / "merges.txt");
  EXPECT_ERROR_TEXT(load().error().text(), "expected tokenizer.json, vocab.json with merges.txt");
}

TEST(SeveralFilesOfWhisper, AreTheTokenizerJsonBesideThem) {
  for (const auto& [name, n_vocab] : {std::pair("multilingual", 51865), {"large-v3", 51866}}) {
    const auto folder = test_data() / ("tokenizer/" + std::string(name));
    TUTTI_NEEDS(folder / "vocab.json");
    const TempFolder several;
    for (const char* file : {"vocab.json", "merges.txt", "added_tokens.json"})
      std::filesystem::copy_file(folder / file, several / file);
    const auto tokenizer = Tokenizer::load(several.path(), n_vocab);
    ASSERT_TRUE(tokenizer) << tokenizer.error().text();
    expect_same_tokenizer(*tokenizer, Tokenizer::load(folder / "tokenizer.json", n_vocab).value());
    std::filesystem::remove(several / "added_tokens.json");
    expect_same_tokenizer(Tokenizer::load(several.path(), n_vocab).value(), *tokenizer);
  }
}

TEST(GgmlVocabulary, TheTokensInsideAreTheVocabularyTheModelWasMadeWith) {
  TUTTI_NEEDS("tokenizer/gpt2.tiktoken");
  const auto expected = Tokenizer::load(test_data() / "tokenizer/gpt2.tiktoken", 51864).value();
  const auto file = parse_tiktoken(read_file(test_data() / "tokenizer/gpt2.tiktoken").value()).value();
  expect_same_tokenizer(Tokenizer::parse(ggml_head(file.tokens, 51864) + "tensors", 51864).value(), expected);
}

TEST(GgmlVocabulary, TruncatedHeaderErrorNamesTheSection) {
  const auto head = ggml_head({"a", "bc"}, 51864);
  EXPECT_ERROR_TEXT(refusal(head.substr(0, head.size() - 1)), "the file ends in its vocabulary");
  EXPECT_ERROR_TEXT(refusal(head.substr(0, 57)), "the file ends in its mel filters");
  EXPECT_ERROR_TEXT(refusal(ggml_head({}, 51864).replace(64, 4, number(-1))), "its vocabulary has -1 tokens");
}
