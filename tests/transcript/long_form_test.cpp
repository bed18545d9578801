#include "transcript/long_form.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/test_data.h"

using namespace tutti;

namespace {

const Tokenizer& tokenizer() {
  static const Tokenizer loaded = Tokenizer::load(test_data() / "tokenizer/multilingual.tiktoken", 51865).value();
  return loaded;
}

struct RequestedWindow {
  WindowSpan window;
  DecodeRequest request;
};

/// A model made of one function; records the requests.
class FakeDecoder : public WindowDecoder {
 public:
  using Answer = std::function<Result<DecodeAnswer>(WindowSpan, const DecodeRequest&)>;
  explicit FakeDecoder(Answer answer) : answer_(std::move(answer)) {}

  Result<std::string> detect_language(WindowSpan) override { return found; }
  Result<DecodeAnswer> decode(WindowSpan window, const DecodeRequest& request) override {
    requested.push_back({window, request});
    return answer_(window, request);
  }
  Result<AlignAnswer> align(WindowSpan window, const AlignRequest& request) override {
    aligned.push_back(request);
    return alignment ? *alignment : Result<AlignAnswer>(evenly_spoken(window, request));
  }

  std::string found = "en";
  std::vector<RequestedWindow> requested;
  std::vector<AlignRequest> aligned;
  std::optional<Result<AlignAnswer>> alignment;  // answered to every request; none: evenly spoken

 private:
  /// Every token takes a fifth of a second.
  static AlignAnswer evenly_spoken(WindowSpan window, const AlignRequest& request) {
    AlignAnswer made{.starts = {0}, .probabilities = std::vector(request.text.size(), 0.9F)};
    for (std::size_t i = 0; i < request.text.size(); ++i)
      made.starts.push_back(std::min(made.starts.back() + 10, static_cast<std::int32_t>(window.frames / 2)));
    return made;
  }

  Answer answer_;
};

/// Anything a broken or untrained model might say, timestamps in any order.
DecodeAnswer babble(std::mt19937& random) {
  const auto pick = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
  DecodeAnswer answer{.avg_logprob = pick(0, 30) / -10.0, .no_speech_prob = pick(0, 10) / 10.0};
  for (int i = pick(0, 40); i > 0; --i) {
    const bool timestamp = pick(0, 2) == 0;
    answer.tokens.push_back(timestamp ? tokenizer().special().timestamp_begin + pick(0, 1500) : pick(0, 50'362));
  }
  if (pick(0, 20) == 0) answer.avg_logprob = answer.no_speech_prob = std::nan("");
  return answer;
}

LongFormOptions any_options(std::mt19937& random) {
  const auto chance = [&](int one_in) { return std::uniform_int_distribution(1, one_in)(random) == 1; };
  LongFormOptions options;
  options.condition_on_previous_text = !chance(4);
  options.carry_initial_prompt = chance(3);
  options.without_timestamps = chance(4);
  if (chance(2)) options.initial_prompt = chance(2) ? "Köhler" : std::string(1500, 'x');
  if (chance(3)) options.clip_timestamps = {3, 50, 40, 1e9, 7};
  if (chance(3)) options.temperatures = {0.0, 1.0};
  if (chance(2)) options.words = WordRules{};
  if (options.words && chance(2)) options.words->hallucination_silence_threshold = chance(3) ? 0.001 : 1.0;
  if (chance(4)) options.hot_words = "Tutti";
  if (chance(4)) options.prefix = "So,";
  return options;
}

std::int32_t timestamp(double seconds) {
  return tokenizer().special().timestamp_begin + static_cast<std::int32_t>(std::lround(seconds / 0.02));
}

}  // namespace

class LongFormProperties : public testing::TestWithParam<std::int32_t> {
 protected:
  void SetUp() override { TUTTI_NEEDS("tokenizer/multilingual.tiktoken"); }
};

TEST_P(LongFormProperties, LoopAdvancesAndEndsWithFittingPromptsForAnyAnswer) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const LongFormInput input{.content_frames = std::uniform_int_distribution(0, 20'000)(random),
                              .frames_per_window = seed % 3 == 0 ? 800 : 3000,
                              .n_text_ctx = GetParam()};
    FakeDecoder decoder([&](auto, const auto&) { return babble(random); });
    const LongFormOptions options = any_options(random);
    std::vector<std::pair<std::int64_t, std::int64_t>> windows;  // where each began, and where it sent us
    const auto transcript = transcribe_long_form(input, tokenizer(), options, decoder, [&](const auto&, auto seek) {
      windows.emplace_back(decoder.requested.back().window.seek, seek);
    });
    ASSERT_TRUE(transcript) << transcript.error().text();
    for (const auto& [from, to] : windows) ASSERT_GT(to, from) << "seed " << seed;
    for (const RequestedWindow& requested : decoder.requested) {
      ASSERT_LT(requested.request.prompt.size(), static_cast<std::size_t>(input.n_text_ctx)) << "seed " << seed;
      ASSERT_EQ(requested.request.prompt[static_cast<std::size_t>(requested.request.sot_index)],
                tokenizer().special().sot);
      ASSERT_GT(requested.window.frames, 0);
      ASSERT_LE(requested.window.frames, input.frames_per_window);
      ASSERT_LE(requested.window.seek + requested.window.frames, input.content_frames);
    }
    for (std::size_t i = 0; i < transcript->segments.size(); ++i) {
      ASSERT_EQ(transcript->segments[i].id, static_cast<std::int64_t>(i));
      ASSERT_GE(transcript->segments[i].start,
                options.words ? 0.0 : static_cast<double>(transcript->segments[i].seek) / 100);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(TextContexts, LongFormProperties, testing::Values(16, 17, 64, 448));

class LongFormLoop : public testing::Test {
 protected:
  void SetUp() override { TUTTI_NEEDS("tokenizer/multilingual.tiktoken"); }
};

TEST_F(LongFormLoop, AnswersThatKeepTheTimestampRulesGiveSegmentsInOrder) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
    FakeDecoder decoder([&](auto, const auto&) {
      DecodeAnswer answer{.avg_logprob = -0.2, .no_speech_prob = 0.1};
      for (int at = pick(0, 50), left = pick(1, 6); left > 0 && at < 1400; --left) {
        answer.tokens.push_back(tokenizer().special().timestamp_begin + at);
        answer.tokens.push_back(pick(256, 50'000));
        at += pick(1, 400);
        answer.tokens.push_back(tokenizer().special().timestamp_begin + std::min(at, 1500));
        at += pick(0, 30);
      }
      return answer;
    });
    const auto transcript = transcribe_long_form({.content_frames = 30'000}, tokenizer(), {}, decoder, {});
    ASSERT_TRUE(transcript);
    double last = 0;
    for (const Segment& segment : transcript->segments) {
      ASSERT_LE(last, segment.start) << "seed " << seed;
      ASSERT_LE(segment.start, segment.end) << "seed " << seed;
      last = segment.start;
    }
    ASSERT_GT(last, 200) << "seed " << seed << ": the whole recording is covered";
  }
}

TEST_F(LongFormLoop, AClipThatReachesPastTheRecordingEndsWithIt) {
  FakeDecoder decoder([](auto, const auto&) {
    return DecodeAnswer{.tokens = {timestamp(0), 1000}, .avg_logprob = -0.1};
  });
  LongFormOptions options;
  options.clip_timestamps = {0, 500};
  const auto transcript = transcribe_long_form({.content_frames = 4000}, tokenizer(), options, decoder, {});
  ASSERT_TRUE(transcript);
  ASSERT_EQ(decoder.requested.size(), 2U);
  EXPECT_EQ(decoder.requested.back().window.frames, 1000);
  EXPECT_EQ(transcript->segments.back().end, 40.0);
}

TEST_F(LongFormLoop, ShorterModelWindowSetsTheWindowLength) {
  FakeDecoder decoder([](auto, const auto&) {
    return DecodeAnswer{.tokens = {timestamp(0), 1000}, .avg_logprob = -0.1};
  });
  ASSERT_TRUE(transcribe_long_form({.content_frames = 1000, .frames_per_window = 400}, tokenizer(), {}, decoder, {}));
  ASSERT_EQ(decoder.requested.size(), 3U);
  EXPECT_EQ(decoder.requested[2].window.seek, 800);
  EXPECT_EQ(decoder.requested[2].window.frames, 200);
}

TEST_F(LongFormLoop, TheFirstErrorOfTheDecoderStopsIt) {
  FakeDecoder decoder([n = 0](auto, const auto&) mutable -> Result<DecodeAnswer> {
    if (++n == 2) return fail(Fault::cancelled, "stopped by the user");
    return DecodeAnswer{.tokens = {timestamp(0), 1000}, .avg_logprob = -0.1};
  });
  const auto transcript = transcribe_long_form({.content_frames = 30'000}, tokenizer(), {}, decoder, {});
  ASSERT_FALSE(transcript);
  EXPECT_EQ(transcript.error().fault, Fault::cancelled);
  EXPECT_EQ(decoder.requested.size(), 2U);
}

TEST_F(LongFormLoop, ProgressReportsNewSegmentsOfEveryWindowEvenNone) {
  FakeDecoder decoder([n = 0](auto, const auto&) mutable {
    if (++n == 2) return DecodeAnswer{.tokens = {timestamp(0), 1000}, .avg_logprob = -2, .no_speech_prob = 0.9};
    return DecodeAnswer{.tokens = {timestamp(0), 1000}, .avg_logprob = -0.1};
  });
  std::vector<std::pair<std::size_t, std::int64_t>> reported;
  ASSERT_TRUE(transcribe_long_form({.content_frames = 7000}, tokenizer(), {}, decoder,
                                   [&](const auto& fresh, auto seek) { reported.emplace_back(fresh.size(), seek); }));
  EXPECT_EQ(reported, (std::vector<std::pair<std::size_t, std::int64_t>>{{1, 3000}, {0, 6000}, {1, 7000}}));
}

TEST_F(LongFormLoop, WordTimesAreRequestedOncePerWindowAndMoveTheSegment) {
  const auto text = tokenizer().encode(" Hello, world.");
  FakeDecoder decoder([&](auto, const auto&) {
    DecodeAnswer answer{.tokens = {timestamp(0)}, .avg_logprob = -0.1};
    answer.tokens.insert(answer.tokens.end(), text.begin(), text.end());
    answer.tokens.push_back(timestamp(9));
    return answer;
  });
  const LongFormOptions options{.language = "en", .words = WordRules{}};
  const auto transcript = transcribe_long_form({.content_frames = 3000}, tokenizer(), options, decoder, {}).value();
  ASSERT_EQ(decoder.aligned.size(), 1U);
  EXPECT_EQ(decoder.aligned[0].text, text);
  EXPECT_EQ(decoder.aligned[0].sot_sequence, tokenizer().sot_sequence("en", tokenizer().special().transcribe));
  ASSERT_EQ(transcript.segments.size(), 1U);
  const Segment& segment = transcript.segments[0];
  ASSERT_EQ(segment.words.size(), 2U);
  EXPECT_EQ(segment.words[0].word, " Hello,");
  EXPECT_EQ(segment.words[1].word, " world.");
  EXPECT_DOUBLE_EQ(segment.words[1].start, 0.4);
  EXPECT_DOUBLE_EQ(segment.end, segment.words[1].end) << "the timestamp was 9 s";
}

TEST_F(LongFormLoop, SegmentsHaveTheLogprobsOfTheirTextAndNoOthers) {
  const auto character = tokenizer().encode("\U0001D11E");  // one character of two tokens at least
  ASSERT_GT(character.size(), 1U);
  DecodeAnswer answer{.tokens = {timestamp(0), 1000, timestamp(2), timestamp(2)}, .avg_logprob = -0.1};
  answer.tokens.insert(answer.tokens.end(), character.begin(), character.end());
  answer.tokens.push_back(timestamp(4));
  for (std::size_t i = 0; i <= answer.tokens.size(); ++i) answer.token_logprobs.push_back(-static_cast<float>(i));
  FakeDecoder decoder([&](auto, const auto&) { return answer; });
  const auto transcript = transcribe_long_form({.content_frames = 3000}, tokenizer(), {}, decoder, {}).value();
  ASSERT_EQ(transcript.segments.size(), 2U);
  const auto& first = transcript.segments[0].text_tokens;
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].bytes, transcript.segments[0].text);
  EXPECT_EQ(first[0].logprob, -1.0);
  const auto& second = transcript.segments[1].text_tokens;
  ASSERT_EQ(second.size(), character.size());
  std::string text;
  for (const TextToken& token : second) text += token.bytes;
  EXPECT_EQ(text, "\U0001D11E");
  EXPECT_EQ(second[0].logprob, -4.0);

  answer.token_logprobs.clear();
  EXPECT_TRUE(
      transcribe_long_form({.content_frames = 3000}, tokenizer(), {}, decoder, {})->segments[0].text_tokens.empty());
}

TEST_F(LongFormLoop, InvalidAlignmentIsAnError) {
  FakeDecoder decoder([](auto, const auto&) {
    return DecodeAnswer{.tokens = {timestamp(0), 1000, 1001}, .avg_logprob = -0.1};
  });
  const LongFormOptions options{.language = "en", .words = WordRules{}};
  for (const AlignAnswer& wrong :
       {AlignAnswer{.starts = {0, 1}, .probabilities = {1, 1}}, AlignAnswer{.starts = {0, 1, 2}, .probabilities = {1}},
        AlignAnswer{.starts = {0, 5, 2}, .probabilities = {1, 1}},
        AlignAnswer{.starts = {-1, 0, 2}, .probabilities = {1, 1}},
        AlignAnswer{.starts = {0, 1, 1501}, .probabilities = {1, 1}}}) {
    decoder.alignment = wrong;
    const auto done = transcribe_long_form({.content_frames = 3000}, tokenizer(), options, decoder, {});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().fault, Fault::internal) << done.error().text();
  }
  decoder.alignment = fail(Fault::device, "the worker is gone");
  EXPECT_EQ(transcribe_long_form({.content_frames = 3000}, tokenizer(), options, decoder, {}).error().fault,
            Fault::device);
}

TEST_F(LongFormLoop, InvalidOptionsFailBeforeDecoding) {
  FakeDecoder decoder([](auto, const auto&) { return DecodeAnswer{}; });
  const auto error_of = [&](const LongFormOptions& options, std::int32_t n_text_ctx = 448) {
    const auto done =
        transcribe_long_form({.content_frames = 3000, .n_text_ctx = n_text_ctx}, tokenizer(), options, decoder, {});
    return done ? "no error" : done.error().what;
  };
  EXPECT_EQ(error_of({.temperatures = {}}), "temperatures: expected at least one, found none");
  EXPECT_EQ(error_of({.language = "klingon"}), "language: expected a code the model knows, found 'klingon'");
  EXPECT_EQ(error_of({.clip_timestamps = {-2}}), "clip timestamps: expected seconds from 0 on, found -2.0");
  EXPECT_EQ(error_of({}, 8), "text context of the model: expected at least 16 tokens, found 8");
  EXPECT_TRUE(decoder.requested.empty());
}
