#include "transcribe/remote_windows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "audio/pcm_samples.h"
#include "audio/recording.h"
#include "base/files.h"
#include "support/keyed_audio.h"
#include "support/test_data.h"
#include "transcribe/scripted_engine.h"

using namespace tutti;

namespace {

/// Ten seconds of a 440 Hz tone.
Recording tone() {
  std::vector<std::int16_t> samples(160000);
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = static_cast<std::int16_t>(8000 * std::sin(0.1727875959 * static_cast<double>(i)));
  OwnedFd file = open_unnamed_file().value();
  EXPECT_TRUE(write_all(file.get(), std::as_bytes(std::span(samples)), "tone"));
  return Recording(std::move(file), static_cast<std::int64_t>(samples.size()), {});
}

class RemoteWindowsTest : public testing::Test {
 protected:
  void SetUp() override {
    TUTTI_NEEDS("tokenizer/multilingual.tiktoken");
    tokenizer_.emplace(Tokenizer::load(test_data() / "tokenizer/multilingual.tiktoken", 51865).value());
  }
  std::optional<Tokenizer> tokenizer_;
  ScriptedEngine engine_;
  LogMel log_mel_{80};
  Recording recording_ = tone();
  RecordingMel mels_{log_mel_, recording_, 0};
  DecodingOptions options_{.best_of = 5, .beam_size = 3, .suppress_tokens = {1, 2}};
  WindowService service() { return {engine_, *tokenizer_, options_}; }
};

}  // namespace

TEST_F(RemoteWindowsTest, AWindowIsEncodedOnceHoweverOftenItIsDecoded) {
  RemoteWindows windows(service(), mels_);
  for (const double temperature : {0.0, 0.2, 0.4})
    ASSERT_TRUE(windows.decode({0, 1000}, {.prompt = {1}, .temperature = temperature}));
  EXPECT_EQ(engine_.opened.size(), 1U);
  EXPECT_EQ(windows.costs().counts.windows, 1U);
  EXPECT_EQ(windows.costs().counts.decodings, 3U);
  EXPECT_EQ(windows.costs().counts.decoder_steps, 6U);
  EXPECT_DOUBLE_EQ(windows.costs().spent.encoder.count(), 0.25);
}

TEST_F(RemoteWindowsTest, NextWindowReplacesThePreviousAndTheFileEndsTheLast) {
  {
    RemoteWindows windows(service(), mels_);
    ASSERT_TRUE(windows.decode({0, 500}, {.prompt = {1}}));
    ASSERT_TRUE(windows.decode({500, 500}, {.prompt = {1}}));
    EXPECT_EQ(engine_.opened.size(), 2U);
    EXPECT_EQ(engine_.open_now, std::set<WindowId>{engine_.opened[1]});
  }
  EXPECT_TRUE(engine_.open_now.empty());
}

TEST_F(RemoteWindowsTest, PositionsOfAShortWindowCoverItAndItsMargin) {
  WindowService shortened = service();
  shortened.shortened = {.margin = Seconds(2)};
  RemoteWindows windows(shortened, mels_);
  for (const std::int64_t frames : {100, 900}) ASSERT_TRUE(windows.decode({0, frames}, {.prompt = {1}}));
  shortened.shortened->frames_per_window = 1000;
  RemoteWindows filled(shortened, mels_);
  ASSERT_TRUE(filled.decode({0, 900}, {.prompt = {1}}));
  EXPECT_EQ(engine_.positions, (std::vector<std::int32_t>{160, 576, 0}));
}

TEST_F(RemoteWindowsTest, OptionsArriveWholeAndEachTemperatureHasItsOwnSeed) {
  RemoteWindows windows(service(), mels_);
  for (const double temperature : {0.0, 0.2, 0.4}) ASSERT_TRUE(windows.decode({0, 1000}, {.temperature = temperature}));
  EXPECT_NE(engine_.requests[1].decoding.seed, engine_.requests[2].decoding.seed);
  for (DecodeWindow& request : engine_.requests) {
    request.decoding.seed = options_.seed;
    EXPECT_EQ(request.decoding, options_);
  }
}

TEST_F(RemoteWindowsTest, TokenLogprobsAreRequestedAndHandedOn) {
  engine_.answer = [](const DecodeWindow& request) {
    return Decoded{.tokens = {7}, .token_logprobs = std::vector<float>(request.decoding.token_logprobs ? 2 : 0, -0.5F)};
  };
  RemoteWindows plain(service(), mels_);
  EXPECT_TRUE(plain.decode({0, 1000}, {.prompt = {1}})->token_logprobs.empty());
  options_.token_logprobs = true;
  RemoteWindows detailed(service(), mels_);
  EXPECT_EQ(detailed.decode({0, 1000}, {.prompt = {1}})->token_logprobs, (std::vector<float>{-0.5F, -0.5F}));
}

TEST_F(RemoteWindowsTest, AWindowIsAlignedWhereItWasDecoded) {
  RemoteWindows windows(service(), mels_);
  ASSERT_TRUE(windows.decode({0, 900}, {.prompt = {1}}));
  const auto alignment = windows.align({0, 900}, {.sot_sequence = {1, 2}, .text = {7, 8}});
  ASSERT_TRUE(alignment);
  EXPECT_EQ(alignment->starts, (std::vector<std::int32_t>{0, 20, 30}));
  EXPECT_EQ(alignment->probabilities, (std::vector<float>{0.5F, 0.25F}));
  EXPECT_EQ(engine_.opened.size(), 1U);
  ASSERT_EQ(engine_.alignments.size(), 1U);
  EXPECT_EQ(engine_.alignments[0].window, engine_.opened[0]);
  EXPECT_EQ(engine_.alignments[0].sot_sequence, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(engine_.alignments[0].text_tokens, (std::vector<std::int32_t>{7, 8}));
  EXPECT_EQ(engine_.alignments[0].frames, 900) << "what is behind them is not audio";
  EXPECT_DOUBLE_EQ(windows.costs().spent.decoder.count(), 0.125);
}

TEST_F(RemoteWindowsTest, TheMostProbableLanguageIsNamedByItsCode) {
  const auto& special = tokenizer_->special();
  engine_.languages = {special.language_token("en").value(), special.language_token("de").value(),
                       special.language_token("ja").value()};
  RemoteWindows windows(service(), mels_);
  EXPECT_EQ(windows.detect_language({0, 3000}).value(), "de");
}

TEST_F(RemoteWindowsTest, AnEngineThatGaveUpIsAnError) {
  engine_.fails = true;
  RemoteWindows windows(service(), mels_);
  const auto answer = windows.decode({0, 1000}, {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().fault, Fault::device);
}

TEST_F(RemoteWindowsTest, SteeringTokensAreAlwaysSuppressedAndSymbolsOnRequest) {
  const auto bare = suppressed_tokens(*tokenizer_, {});
  EXPECT_EQ(bare.size(), 6U);
  const auto usual = suppressed_tokens(*tokenizer_, {-1});
  EXPECT_EQ(usual.size(), 6U + tokenizer_->non_speech_tokens().size());
  EXPECT_TRUE(std::ranges::is_sorted(usual));
  EXPECT_EQ(suppressed_tokens(*tokenizer_, {50, 50}).size(), 7U);
}

TEST_F(RemoteWindowsTest, MorseThatIsCertainIsDecodedWithoutTheEngine) {
  const KeyedAudio made = keyed_audio("CQ DE DL1ABC K", {.wpm = 20}, 6);
  const PcmSamples samples(made.pcm);
  const LogMel log_mel(80, /*keyed_tone=*/true);
  RecordingMel mels(log_mel, samples, 0);
  WindowService keyed = service();
  keyed.keyed_tone = true;
  RemoteWindows windows(keyed, mels);
  const WindowSpan span{0, samples.samples() / kHopSamples};
  EXPECT_EQ(windows.fitting(span).value().frames, span.frames);
  const auto answer = windows.decode(span, {.prompt = {1}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(tokenizer_->decode(answer->tokens), " CQ DE DL1ABC K");
  EXPECT_GT(answer->avg_logprob, -0.1);
  EXPECT_EQ(answer->no_speech_prob, 0);
  EXPECT_TRUE(answer->is_exact);
  const auto aligned = windows.align(span, {.text = answer->tokens});
  ASSERT_TRUE(aligned);
  ASSERT_EQ(aligned->ends.size(), answer->tokens.size());
  EXPECT_NEAR(aligned->starts.front() * 0.02, made.start, 0.05);
  EXPECT_NEAR(aligned->ends.back() * 0.02, made.start + made.text.length(), 0.05);
  EXPECT_TRUE(engine_.opened.empty());
  EXPECT_EQ(windows.costs().counts.windows, 1U);

  ChunkMel chunk = ChunkMel::of(samples, span.frames, log_mel).value();
  ASSERT_TRUE(chunk.read_keying(span).value().morse);
  EXPECT_EQ(chunk.window(span).value(), mels.window(span).value()) << "computed when it is requested";

  ASSERT_TRUE(windows.align(span, {.sot_sequence = {1}, .text = tokenizer_->encode(" CQ DE K")}));
  EXPECT_EQ(engine_.opened.size(), 1U) << "a text that was not read here is aligned as a model's";
}

TEST_F(RemoteWindowsTest, WhereNoToneIsNothingIsDecoded) {
  const std::vector<std::int16_t> silence(5 * 16'000);
  const PcmSamples samples(silence);
  const LogMel log_mel(80, /*keyed_tone=*/true);
  RecordingMel mels(log_mel, samples, 0);
  WindowService keyed = service();
  keyed.keyed_tone = true;
  RemoteWindows windows(keyed, mels);
  EXPECT_EQ(windows.fitting({0, 500}).value().frames, 500);
  const auto answer = windows.decode({0, 500}, {.prompt = {1}});
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->tokens.empty());
  EXPECT_EQ(answer->no_speech_prob, 1) << "a silent window, and no segment without text";
  EXPECT_TRUE(engine_.opened.empty());
}

TEST_F(RemoteWindowsTest, AudioThatIsNotKeyedIsDecodedByTheEngine) {
  std::vector<std::int16_t> carrier(18 * 16'000);
  for (std::size_t i = 0; i < carrier.size(); ++i)
    carrier[i] = static_cast<std::int16_t>(8000 * std::sin(0.25 * static_cast<double>(i)));
  const PcmSamples samples(carrier);
  const LogMel log_mel(80, /*keyed_tone=*/true);
  RecordingMel mels(log_mel, samples, 0);
  WindowService keyed = service();
  keyed.keyed_tone = true;
  RemoteWindows windows(keyed, mels);
  const WindowSpan part = windows.fitting({0, 1800}).value();
  EXPECT_EQ(part.seek, 0);
  EXPECT_LE(part.frames, 1200) << "a small network loses its way in more";
  EXPECT_GE(part.frames, 600);
  ASSERT_TRUE(windows.decode(part, {.prompt = {1}}));
  EXPECT_EQ(engine_.opened.size(), 1U);

  ChunkMel chunk = ChunkMel::of(samples, 1800, log_mel).value();
  EXPECT_EQ(chunk.frames(), 1800);
  EXPECT_EQ(chunk.read_keying({0, 1800}).value().samples, part.frames * kHopSamples) << "as the recording's";
  const std::int64_t rest = 1800 - part.frames;
  EXPECT_EQ(chunk.read_keying({part.frames, rest}).value().samples, rest * kHopSamples);
  const auto whole = chunk.window({0, 1800}).value(), second = chunk.window({part.frames, rest}).value();
  for (const std::int64_t bin : {0, 79})
    EXPECT_EQ(whole[static_cast<std::size_t>(bin * 1800 + 1799)],
              second[static_cast<std::size_t>((bin + 1) * rest - 1)]);
}
