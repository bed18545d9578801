#include "transcribe/live/live_transcriber.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/files.h"
#include "support/test_data.h"
#include "transcribe/live/captions.h"

using namespace tutti;

namespace {

constexpr double kWordSeconds = 0.4;
constexpr float kProbability = 0.5;  // of every token

/// Reads a word every 0.4 s of audio, "alpha bravo ..." by number, whatever is spoken; gets a word wrong until half a
/// second of audio follows it. Checks that the fixed text begins its answer.
class ScriptedDecoder final : public WindowDecoder {
 public:
  explicit ScriptedDecoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  static std::string word(std::int64_t number) {
    static const std::array<const char*, 6> kWords{" red", " green", " blue", " white", " black", " grey"};
    return kWords[static_cast<std::size_t>(number) % kWords.size()];
  }

  Result<std::string> detect_language(WindowSpan) override { return "en"; }
  Result<DecodeAnswer> decode(WindowSpan window, const DecodeRequest& request) override {
    const double start = static_cast<double>(window.seek) / 100, end = start + static_cast<double>(window.frames) / 100;
    const auto first = static_cast<std::int64_t>(std::ceil(start / kWordSeconds - 1e-6));
    std::vector<std::int32_t> all;
    for (std::int64_t number = first; static_cast<double>(number + 1) * kWordSeconds <= end; ++number) {
      const bool is_clear = static_cast<double>(number + 1) * kWordSeconds + 0.5 <= end;
      for (const auto id : tokenizer_.encode(is_clear ? word(number) : " mumble")) all.push_back(id);
    }
    const auto begin = std::ranges::find(request.prompt, tokenizer_.special().no_timestamps);
    const std::vector<std::int32_t> fixed(begin + 1, request.prompt.end());
    EXPECT_LE(fixed.size(), all.size());
    EXPECT_TRUE(std::equal(fixed.begin(), fixed.end(), all.begin())) << "the fixed text begins the answer";
    longest = std::max(longest, window.frames);
    return DecodeAnswer{.tokens = {all.begin() + std::ssize(fixed), all.end()}, .avg_logprob = -0.1};
  }
  Result<AlignAnswer> align(WindowSpan window, const AlignRequest& request) override {
    AlignAnswer answer;
    const double start = static_cast<double>(window.seek) / 100;
    const double first = std::ceil(start / kWordSeconds - 1e-6) * kWordSeconds - start;
    for (std::size_t i = 0; i <= request.text.size(); ++i)
      answer.starts.push_back(
          static_cast<std::int32_t>(std::lround((first + static_cast<double>(i) * kWordSeconds) * 50)));
    answer.probabilities.assign(request.text.size(), kProbability);
    return answer;
  }

  std::int64_t longest = 0;

 private:
  const Tokenizer& tokenizer_;
};

/// Passes calls on to one that outlives it.
class Borrowed final : public WindowDecoder {
 public:
  explicit Borrowed(WindowDecoder& decoder) : decoder_(decoder) {}
  Result<std::string> detect_language(WindowSpan window) override { return decoder_.detect_language(window); }
  Result<DecodeAnswer> decode(WindowSpan window, const DecodeRequest& request) override {
    return decoder_.decode(window, request);
  }
  Result<AlignAnswer> align(WindowSpan window, const AlignRequest& request) override {
    return decoder_.align(window, request);
  }

 private:
  WindowDecoder& decoder_;
};

struct Captions final : CaptionListener {
  void on_partial(const Caption& caption) override {
    EXPECT_EQ(caption.id, std::ssize(finals));
    partial_text = caption.text;
    ++partials;
  }
  void on_final(const Caption& caption) override {
    EXPECT_EQ(caption.id, std::ssize(finals));
    EXPECT_FALSE(caption.text.empty());
    EXPECT_GE(caption.start, finals.empty() ? 0 : finals.back().end);
    EXPECT_GE(caption.end, caption.start);
    EXPECT_EQ(caption.scores.size(), caption.words.size());
    for (const WordScore& score : caption.scores)
      EXPECT_NEAR(score.logprob, static_cast<double>(score.tokens) * std::log(kProbability), 1e-6);
    finals.push_back(caption);
    text += caption.text;
  }
  void on_settled(double, bool) override { ++settled; }
  void on_end(const Result<void>&) override {}

  std::vector<Caption> finals{};
  std::string text{}, partial_text{};
  int partials = 0, settled = 0;
};

/// Speech of the test data, again and again.
std::vector<std::int16_t> speech(double seconds) {
  constexpr std::size_t kHeader = 44;  // a plain WAV of 16 kHz
  const std::string wav = read_file(test_data() / "vad/speech.wav").value();
  std::vector<std::int16_t> pcm((wav.size() - kHeader) / 2), all;
  std::memcpy(pcm.data(), wav.data() + kHeader, pcm.size() * 2);
  while (std::ssize(all) < static_cast<std::int64_t>(seconds * 16'000)) all.insert(all.end(), pcm.begin(), pcm.end());
  all.resize(static_cast<std::size_t>(seconds * 16'000));
  return all;
}

struct Live {
  explicit Live(Captions& shown, LongFormOptions own = {})
      : rules(std::move(own)),
        transcriber({.tokenizer = tokenizer,
                     .log_mel = log_mel,
                     .rules = rules,
                     .input = {},
                     .decoder = [this](MelSource&, bool) { return std::make_unique<Borrowed>(decoder); }},
                    VadOptions{.threshold = 0.1}, shown) {}

  /// Feeds it in steps, `more` as of advance.
  void play(std::span<const std::int16_t> pcm, std::size_t step, Seconds more) {
    for (std::size_t at = 0; at < pcm.size(); at += step) {
      transcriber.take(pcm.subspan(at, std::min(step, pcm.size() - at)));
      ASSERT_TRUE(transcriber.advance(more));
    }
  }

  Tokenizer tokenizer = Tokenizer::built_in(51864).value();
  LogMel log_mel{80};
  LongFormOptions rules;
  ScriptedDecoder decoder{tokenizer};
  LiveTranscriber transcriber;
};

LongFormOptions text_alone() {
  return {.compression_ratio_threshold = std::nullopt, .without_timestamps = true};
}

}  // namespace

TEST(LiveTranscriber, FixesWordsWhileTheyAreSpokenAndTheRestAtTheEnd) {
  TUTTI_NEEDS("vad/speech.wav");
  Captions shown;
  Live live(shown, text_alone());
  live.play(speech(12), 1'600, Seconds(0.8));
  EXPECT_GT(shown.finals.size(), 5U);
  EXPECT_GT(shown.partials, 5);
  EXPECT_EQ(shown.text.find("mumble"), std::string::npos) << "what two readings disagree on is not fixed";
  live.transcriber.end();
  ASSERT_TRUE(live.transcriber.advance(Seconds(0.8)));
  EXPECT_EQ(shown.settled, 1);
  std::int64_t words = 0;
  for (const Caption& caption : shown.finals) words += std::ssize(caption.words);
  EXPECT_GT(words, 25);
}

TEST(LiveTranscriber, LeavesWordsOfTheLastMomentOpen) {
  TUTTI_NEEDS("vad/speech.wav");
  Captions shown;
  Live live(shown, text_alone());
  const auto pcm = speech(10);
  for (std::size_t at = 0; at < pcm.size() && shown.settled == 0; at += 1'600) {
    live.play(std::span(pcm).subspan(at, 1'600), 1'600, Seconds(0.5));
    if (!shown.finals.empty() && shown.settled == 0) {
      EXPECT_LE(shown.finals.back().end, live.transcriber.taken().count() - 0.79);
    }
  }
  EXPECT_FALSE(shown.finals.empty());
}

TEST(LiveTranscriber, GoesOnBehindFullWindowsWithoutAWordLostOrTwice) {
  TUTTI_NEEDS("vad/speech.wav");
  for (const std::size_t step : {1'600U, 480'000U}) {
    Captions shown;
    Live live(shown, text_alone());
    live.play(speech(90), step, Seconds(2));
    live.transcriber.end();
    ASSERT_TRUE(live.transcriber.advance(Seconds(2)));
    std::string expected;
    const auto first = static_cast<std::int64_t>(std::lround(shown.finals.front().start / kWordSeconds));
    std::int64_t words = 0;
    for (const Caption& caption : shown.finals) words += std::ssize(caption.words);
    for (std::int64_t number = first; number < first + words; ++number) expected += ScriptedDecoder::word(number);
    // The last words are mumbles where the audio ends within half a second.
    const std::size_t same = std::min(shown.text.find(" mumble"), shown.text.size());
    EXPECT_EQ(shown.text.substr(0, same), expected.substr(0, same)) << "steps of " << step;
    EXPECT_GT(same + 3 * std::string(" mumble").size(), shown.text.size());
    EXPECT_GT(words, 200);
    EXPECT_LE(live.decoder.longest, 3000);
  }
}

TEST(LiveTranscriber, SettlesWhatIsOpenWhenThatIsRequested) {
  TUTTI_NEEDS("vad/speech.wav");
  Captions shown;
  Live live(shown, text_alone());
  live.play(speech(3), 1'600, Seconds(10));
  EXPECT_TRUE(shown.finals.empty()) << "there is nothing to agree with";
  ASSERT_TRUE(live.transcriber.settle());
  EXPECT_EQ(shown.finals.size(), 1U);
  EXPECT_GE(shown.settled, 1);
}

TEST(LiveTranscriber, ReadsNothingInSilence) {
  Captions shown;
  Live live(shown, text_alone());
  live.play(std::vector<std::int16_t>(16'000 * 60), 16'000, Seconds(0));
  live.transcriber.end();
  ASSERT_TRUE(live.transcriber.advance(Seconds(0)));
  EXPECT_EQ(live.transcriber.readings(), 0);
  EXPECT_EQ(shown.partials, 0);
}

TEST(CaptionSegments, EndWithSentencesAndBeforeTheyGrowTooLong) {
  CaptionSegments segments;
  Caption caption{.id = 0};
  const auto add = [&](const char* word, double start) {
    caption.words.push_back({.word = word, .start = start, .end = start + 0.3});
  };
  for (int i = 0; i < 12; ++i) add(i == 5 ? " end" : " word", i * 0.4);
  caption.words[5].word = " over.";
  const auto done = segments.add(caption);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].text, " word word word word word over.");
  EXPECT_DOUBLE_EQ(done[0].end, 2.3);
  EXPECT_EQ(segments.transcript("en").segments.size(), 2U);
  EXPECT_EQ(segments.pause().size(), 1U);
  EXPECT_TRUE(segments.pause().empty());
  EXPECT_EQ(segments.transcript("en").segments.size(), 2U);
}

TEST(CaptionSegments, HaveTheMeanLogProbabilityOfTheirTokens) {
  CaptionSegments segments;
  Caption caption{.id = 0, .temperature = 0.2, .no_speech_prob = 0.1};
  caption.words = {{.word = " One", .start = 0, .end = 0.3}, {.word = " two.", .start = 0.3, .end = 0.6}};
  caption.scores = {{.logprob = -0.5, .tokens = 1}, {.logprob = -1, .tokens = 2}};
  segments.add(caption);
  const auto open = segments.transcript("en").segments;
  EXPECT_DOUBLE_EQ(open.at(0).avg_logprob, -0.5);
  const auto done = segments.pause();
  EXPECT_DOUBLE_EQ(done.at(0).avg_logprob, -0.5);
  EXPECT_DOUBLE_EQ(done.at(0).temperature, 0.2);
  EXPECT_DOUBLE_EQ(done.at(0).no_speech_prob, 0.1);
  EXPECT_GT(done.at(0).compression_ratio, 0);
  segments.add({.id = 1, .words = {{.word = " Three", .start = 2, .end = 3}}});
  EXPECT_EQ(segments.pause().at(0).avg_logprob, 0) << "what is not known is not the last one's";
}
