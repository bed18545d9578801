#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "audio/pcm_samples.h"
#include "audio/vad/speech.h"
#include "support/keyed_audio.h"
#include "transcribe/live/keyed_transcriber.h"

using namespace tutti;

namespace {

constexpr VadOptions kKeying{.method = VadMethod::keying, .min_silence_duration_ms = kKeyedSilenceMs};

/// Reads " K" out of every window, and keeps how long those are that are read for the last time.
class ScriptedWindow final : public WindowDecoder {
 public:
  ScriptedWindow(const Tokenizer& tokenizer, bool is_last, std::vector<std::int64_t>& lasts)
      : tokenizer_(tokenizer), is_last_(is_last), lasts_(lasts) {}

  Result<std::string> detect_language(WindowSpan) override { return "en"; }
  Result<DecodeAnswer> decode(WindowSpan window, const DecodeRequest&) override {
    if (is_last_) lasts_.push_back(window.frames);
    return DecodeAnswer{.tokens = tokenizer_.encode(" K"), .avg_logprob = -0.1};
  }
  Result<AlignAnswer> align(WindowSpan window, const AlignRequest& request) override {
    AlignAnswer answer{.starts = std::vector<std::int32_t>(request.text.size() + 1),
                       .probabilities = std::vector<float>(request.text.size(), 0.9F)};
    answer.starts.back() = static_cast<std::int32_t>(window.frames / 2);
    return answer;
  }

 private:
  const Tokenizer& tokenizer_;
  bool is_last_;
  std::vector<std::int64_t>& lasts_;
};

struct Shown final : CaptionListener {
  void on_partial(const Caption& caption) override {
    EXPECT_EQ(caption.id, std::ssize(finals));
    ++partials;
  }
  void on_final(const Caption& caption) override {
    EXPECT_EQ(caption.id, std::ssize(finals));
    EXPECT_GE(caption.start, finals.empty() ? 0 : finals.back().end);
    EXPECT_GE(caption.end, caption.start);
    finals.push_back(caption);
    known_at.push_back(taken);
  }
  void on_settled(double, bool) override { ++settled; }
  void on_end(const Result<void>&) override {}

  std::vector<Caption> finals{};
  std::vector<double> known_at{};  // seconds of audio that were taken before each
  double taken = 0;
  int partials = 0, settled = 0;
};

struct Live {
  explicit Live(Shown& to)
      : shown(to),
        transcriber(
            {.tokenizer = tokenizer,
             .log_mel = log_mel,
             .rules = rules,
             .input = {},
             .decoder = [this](MelSource&,
                               bool is_last) { return std::make_unique<ScriptedWindow>(tokenizer, is_last, lasts); }},
            kKeying, to) {}

  void play(std::span<const std::int16_t> pcm, std::size_t step) {
    for (std::size_t at = 0; at < pcm.size(); at += step) {
      const auto part = pcm.subspan(at, std::min(step, pcm.size() - at));
      transcriber.take(part);
      samples += part.size();
      shown.taken = static_cast<double>(samples) / 16'000;
      ASSERT_TRUE(transcriber.advance(Seconds(0.65)));
    }
  }
  void end() {
    transcriber.end();
    ASSERT_TRUE(transcriber.advance(Seconds(0)));
  }

  Shown& shown;
  Tokenizer tokenizer = Tokenizer::built_in(51864).value();
  LogMel log_mel{80};
  LongFormOptions rules{.compression_ratio_threshold = std::nullopt, .without_timestamps = true};
  std::vector<std::int64_t> lasts{};
  std::size_t samples = 0;
  KeyedTranscriber transcriber;
};

/// How long the windows are that a recording's transcription reads, in frames.
std::vector<std::int64_t> windows_of(const std::vector<std::int16_t>& pcm) {
  const PcmSamples samples(pcm);
  const auto probabilities = speech_probabilities(samples, kKeying).value();
  VadOptions vad = kKeying;
  vad.max_speech_duration_s = kKeyedWindow.count();
  const auto pieces = speech_pieces(probabilities, samples.samples(), vad);
  std::vector<std::int64_t> frames;
  for (const SpeechChunk& chunk : keyed_chunks_of(pieces, probabilities, 0.5F, 3000)) frames.push_back(chunk.frames());
  return frames;
}

constexpr const char* kOver =
    "CQ CQ DE DL1ABC DL1ABC K = UR RST 599 599 NAME HANS HANS QTH ROMA ROMA = RIG IC7300 PWR 100 W = ANT DIPOLE = 73";

}  // namespace

TEST(KeyedLive, ReadsTheWindowsOfARecordingHoweverTheAudioComes) {
  const KeyedAudio made = keyed_audio(kOver, {.wpm = 18, .jitter = 0.05}, 12);
  const auto expected = windows_of(made.pcm);
  ASSERT_GE(expected.size(), 4U);
  for (const std::size_t step : {1'600U, 40'000U}) {
    Shown shown;
    Live live(shown);
    live.play(made.pcm, step);
    live.end();
    ASSERT_FALSE(live.lasts.empty());
    live.lasts.erase(live.lasts.begin());  // it had to show the language
    EXPECT_EQ(live.lasts, expected) << "steps of " << step;
    EXPECT_EQ(shown.finals.size(), expected.size());
  }
}

TEST(KeyedLive, ShowsOpenTextAndFixesItOnceAWindowIsWhole) {
  Shown shown;
  Live live(shown);
  live.play(keyed_audio(kOver, {.wpm = 18}, 12).pcm, 3'200);
  ASSERT_GE(shown.finals.size(), 2U);
  EXPECT_GT(shown.partials, 20);
  for (std::size_t i = 0; i < shown.finals.size(); ++i)
    EXPECT_LT(shown.known_at[i], shown.finals[i].start + 12 + 12 + 3) << "a window, a word, and what is looked ahead";
}

TEST(KeyedLive, FixesAllTextWhereTheStationPauses) {
  KeyedAudio made = keyed_audio("CQ DE K1ABC K", {.wpm = 25}, 15);
  const auto quiet = keyed_audio("", {}, 15, 640, 3);
  made.pcm.insert(made.pcm.end(), quiet.pcm.begin(), quiet.pcm.end());
  Shown shown;
  Live live(shown);
  live.play(made.pcm, 1'600);
  EXPECT_EQ(shown.settled, 1);
  ASSERT_EQ(shown.finals.size(), 1U);
  EXPECT_LT(shown.known_at[0], made.text.length() + 1 + 4);
  EXPECT_LT(shown.finals[0].end, made.text.length() + 1 + 0.6) << "what follows is no part of it";
}

TEST(KeyedLive, SettlesWhatIsOpenOnce) {
  const KeyedAudio made = keyed_audio(kOver, {.wpm = 18}, 12);
  Shown shown;
  Live live(shown);
  live.play(std::span(made.pcm).first(16'000 * 9), 1'600);
  EXPECT_TRUE(shown.finals.empty());
  ASSERT_TRUE(live.transcriber.settle());
  ASSERT_EQ(shown.finals.size(), 1U);
  live.play(std::span(made.pcm).subspan(16'000 * 9), 1'600);
  live.end();
  EXPECT_GE(shown.finals.at(1).start, 8.9) << "nothing is read again";
}

TEST(KeyedLive, ReadsNothingInNoise) {
  Shown shown;
  Live live(shown);
  live.play(keyed_audio("", {}, 0, 640, 20).pcm, 16'000);
  live.end();
  EXPECT_EQ(live.transcriber.readings(), 0);
}
