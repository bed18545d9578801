#include <gtest/gtest.h>

#include "base/files.h"
#include "golden_scenarios.h"
#include "transcript/prompt.h"
#include "transcript/prompt_frame.h"

using namespace tutti;

namespace {

/// What openai-whisper's own transcribe() did with scripted answers and alignments (tools/golden/words.py).
const Json& golden() {
  static const Json made = Json::parse(read_file(TUTTI_SOURCE_DIR "/tests/data/transcript/words.json").value());
  return made;
}

}  // namespace

class Prompts : public testing::Test {
 protected:
  void SetUp() override { TUTTI_NEEDS("tokenizer/multilingual.tiktoken"); }

  /// Runs a recording of one window, records the request and answers nothing.
  class OneWindow final : public WindowDecoder {
   public:
    Result<std::string> detect_language(WindowSpan) override { return "en"; }
    Result<DecodeAnswer> decode(WindowSpan, const DecodeRequest& request) override {
      requested = request;
      return DecodeAnswer{};
    }
    Result<AlignAnswer> align(WindowSpan, const AlignRequest&) override { return fail(Fault::internal, "no words"); }
    DecodeRequest requested;
  };
  Result<DecodeRequest> first_request(const LongFormOptions& options) {
    OneWindow window;
    auto done = transcribe_long_form({.content_frames = 3000}, tokenizer("multilingual"), options, window, {});
    if (!done) return tl::unexpected(done.error());
    return window.requested;
  }
};

TEST_F(Prompts, HotWordsAndPreviousTextEqualFasterWhisper) {
  for (const Json& row : golden()["hot_words"]) {
    LongFormOptions options{.language = "en", .initial_prompt = row[1], .without_timestamps = row[2]};
    options.hot_words = row[0];
    EXPECT_EQ(sum_of(joined(first_request(options).value().prompt)), row[3].get<unsigned long>())
        << row[0] << ", " << row[1];
  }
  EXPECT_GE(golden()["hot_words"].size(), 12U);
}

TEST_F(Prompts, HotWordsOrPrefixDisplacePreviousText) {
  std::string many;
  for (int i = 0; i < 300; ++i) many += "word ";
  LongFormOptions options{.language = "en", .initial_prompt = many};
  options.hot_words = many;
  EXPECT_EQ(first_request(options).value().prompt.size(), 1U + 223 + 3) << "all the room for prompts is the hot words'";
  options.prefix = many;
  const auto request = first_request(options).value();
  EXPECT_EQ(request.prompt.size(), 3U + 300) << "the prefix is kept whole and hot words are left out";
  EXPECT_EQ(request.prompt[static_cast<std::size_t>(request.sot_index)], tokenizer("multilingual").special().sot);
}

TEST_F(Prompts, FitThePositionsOfARunWithoutHistory) {
  const auto positions = [](const LongFormOptions& options) { return positions_without_history(options, 448); };
  LongFormOptions options{.language = "en"};
  EXPECT_EQ(positions(options), 232) << "four tokens of prompt, 224 sampled ones";
  options.sample_len = 10;
  EXPECT_EQ(positions(options), 16);
  options.sample_len = 500;
  EXPECT_EQ(positions(options), 448);
  const std::string words = "Käse, Größe and \xe6\x97\xa5\xe6\x9c\xac; 1,234";
  for (const bool timestamps : {true, false})
    for (const std::string& prefix : {std::string(), words})
      for (const std::string& hot_words : {std::string(), words})
        for (const std::int32_t sampled : {0, 20}) {
          const LongFormOptions rules{.language = "en",
                                      .without_timestamps = !timestamps,
                                      .hot_words = hot_words,
                                      .prefix = prefix,
                                      .sample_len = sampled};
          const auto request = first_request(rules).value();
          EXPECT_LE(std::ssize(request.prompt) + request.max_tokens, positions(rules));
        }
  const auto initial = initial_prompt_tokens(tokenizer("multilingual"), words);
  const LongFormOptions prompted{.language = "en", .initial_prompt = words};
  const auto request = PromptFrame(tokenizer("multilingual"), prompted, "en", 448).request_after(initial).value();
  EXPECT_LE(std::ssize(request.prompt) + request.max_tokens, positions(prompted));
  EXPECT_LT(positions(prompted), 448);
}

TEST_F(Prompts, PrefixFillingTheContextIsAUsageError) {
  LongFormOptions options{.language = "en"};
  for (int i = 0; i < 500; ++i) options.prefix += "word ";
  const auto request = first_request(options);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().fault, Fault::usage);
  EXPECT_EQ(request.error().what, "prefix: its 500 tokens leave no space for an answer in the model's 448");
}

TEST_F(Prompts, BlankHotWordsAndPrefixesAreNone) {
  LongFormOptions options{.language = "en"};
  const auto bare = first_request(options).value().prompt;
  options.hot_words = " \n";
  options.prefix = "\u3000";
  EXPECT_EQ(first_request(options).value().prompt, bare);
}

TEST(WordTimes, EqualReferenceInEveryScenario) {
  TUTTI_NEEDS("tokenizer/gpt2.tiktoken");
  TUTTI_NEEDS("tokenizer/multilingual.tiktoken");
  expect_every_scenario(golden(), 400);
}
