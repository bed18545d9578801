// A file in chunks, on an engine made of a script: order, language, fallback, failures.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <thread>

#include "audio/recording.h"
#include "base/files.h"
#include "support/test_data.h"
#include "transcribe/scripted_engine.h"
#include "transcribe/work.h"

using namespace tutti;

namespace {

constexpr std::int64_t kSecond = 16000;

/// Silence is as good as speech to a script.
Recording silence(std::int64_t seconds) {
  const std::vector<std::int16_t> samples(static_cast<std::size_t>(seconds * kSecond));
  OwnedFd file = open_unnamed_file().value();
  EXPECT_TRUE(write_all(file.get(), std::as_bytes(std::span(samples)), "silence"));
  return Recording(std::move(file), std::ssize(samples), {});
}

struct ReportedProgress {
  Seconds position;
  std::vector<Segment> fresh;
};

/// Four stretches of speech, 3 s apart, that are too long to share a window: 20, 21, 22 and 23 s (the last one up to
/// the recording's end), so that a window's length identifies the stretch.
class BatchedTest : public testing::Test {
 protected:
  void SetUp() override {
    TUTTI_NEEDS("tokenizer/multilingual.tiktoken");
    tokenizer_.emplace(Tokenizer::load(test_data() / "tokenizer/multilingual.tiktoken", 51865).value());
    engine_.languages = {special().language_token("en").value(), special().language_token("de").value(),
                         special().language_token("ja").value()};
    engine_.answer = [this](const DecodeWindow& request) { return text(request, {0, 2000 + chunk_of(request), 900}); };
    rules_.language = "en";
    way_.vad.emplace().speech_pad_ms = 0;
    way_.vad->min_silence_duration_ms = 160;
  }

  const SpecialTokens& special() const { return tokenizer_->special(); }

  TranscriptionContext context() {
    return {.windows = {engine_, *tokenizer_, options_},
            .log_mel = log_mel_,
            .rules = rules_,
            .on_progress = on_progress_,
            .model = {.frames_per_window = 3000, .n_text_ctx = 448},
            .way = way_};
  }

  static DecodedFile file() {
    DecodedFile file{.index = 5, .input = "talk.wav", .recording = silence(95)};
    file.speech.assign(95 * kSecond / kVadWindow + 1, 0.0F);
    std::int64_t start = 0;
    for (const std::int64_t length : {20, 21, 22, 23}) {
      const auto first = file.speech.begin() + start * kSecond / kVadWindow;
      std::fill_n(first, length * kSecond / kVadWindow, 1.0F);
      start += length + 3;
    }
    return file;
  }

  std::vector<Work> work_of(const TranscriptionContext& context) {
    std::vector<Work> all;
    const auto prepared = prepare_work(file(), context, aborted_, [&](Work&& work) {
      all.push_back(std::move(work));
      return true;
    });
    EXPECT_TRUE(prepared) << prepared.error().text();
    return all;
  }

  /// What the chunks' threads yielded, all at work together.
  std::vector<Result<TranscribedFile>> run(const TranscriptionContext& context) {
    Guarded<std::vector<Result<TranscribedFile>>> yielded;
    {
      std::vector<std::jthread> threads;
      for (Work& work : work_of(context))
        threads.emplace_back([&, mine = std::move(work)]() mutable {
          if (auto whole = transcribe_work(mine, context))
            yielded.with([&](auto& all) { all.push_back(std::move(*whole)); });
        });
    }
    return yielded.with([](auto& all) { return std::move(all); });
  }

  /// Which of the stretches a first window shows.
  std::int32_t chunk_of(const DecodeWindow& request) {
    const std::int32_t frames = engine_.frames_of(request.window);
    return static_cast<std::int32_t>(std::lround(frames / 100.0)) - 20;
  }
  /// Timestamps up to 1500, in steps of 0.02 s, and text tokens above.
  Decoded text(const DecodeWindow& request, std::vector<std::int32_t> tokens) const {
    for (std::int32_t& token : tokens) token = token <= 1500 ? special().timestamp_begin + token : token;
    return {.window = request.window, .request = request.request, .tokens = tokens, .avg_logprob = -0.2, .steps = 3};
  }

  std::optional<Tokenizer> tokenizer_;
  ScriptedEngine engine_;
  LogMel log_mel_{80};
  LongFormOptions rules_;
  std::atomic<bool> aborted_{false};
  DecodingOptions options_{.suppress_tokens = {1, 2}};
  std::vector<ReportedProgress> progress_;
  OnProgressOfFile on_progress_ = [this](std::size_t index, Seconds position, const std::vector<Segment>& fresh) {
    EXPECT_EQ(index, 5U);
    progress_.push_back({position, fresh});
  };
  TranscriptionMode way_{.batched = true};
};

}  // namespace

TEST_F(BatchedTest, ChunksFinishedBackwardsGiveAnOrderedTranscript) {
  Guarded<std::int32_t> left(4);
  engine_.answer = [&](const DecodeWindow& request) {
    const std::int32_t chunk = chunk_of(request);
    left.wait([&](std::int32_t now) { return now == chunk + 1; }, [](auto&) {});
    left.change([](std::int32_t& now) { --now; });
    return text(request, {0, 2000 + chunk, 900});
  };
  const auto all = run(context());
  ASSERT_EQ(all.size(), 1U);
  ASSERT_TRUE(all.front()) << all.front().error().text();
  const Transcript& transcript = all.front()->transcript;
  ASSERT_EQ(transcript.segments.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const Segment& segment = transcript.segments[i];
    EXPECT_EQ(segment.id, static_cast<std::int64_t>(i));
    EXPECT_EQ(segment.tokens[1], 2000 + static_cast<std::int32_t>(i));
    const double begins = std::vector{0.0, 23.0, 47.0, 72.0}[i];
    EXPECT_NEAR(segment.start, begins, 0.04);
    EXPECT_NEAR(segment.end, begins + 18, 0.04);
    EXPECT_NEAR(static_cast<double>(segment.seek), 100 * begins, 4);
  }
  EXPECT_EQ(transcript.text, tokenizer_->decode(std::vector{2000, 2001, 2002, 2003}));
  EXPECT_EQ(all.front()->outcome.counts.windows, 4U);
  EXPECT_EQ(all.front()->outcome.counts.decoder_steps, 12U);
  EXPECT_TRUE(engine_.open_now.empty());
}

// A model that is not sure where the speech ends gives the window's end, which is behind a short chunk's audio.
TEST_F(BatchedTest, ATextThatClaimsTheWholeWindowEndsWithItsChunkAndNotInTheNext) {
  engine_.answer = [this](const DecodeWindow& request) { return text(request, {0, 2000, 1500}); };
  const auto all = run(context());
  ASSERT_EQ(all.size(), 1U);
  ASSERT_TRUE(all.front()) << all.front().error().text();
  const auto& segments = all.front()->transcript.segments;
  ASSERT_EQ(segments.size(), 4U);
  const std::vector<double> ends{20, 44, 69, 95};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(segments[i].end, ends[i], 0.1);
}

TEST_F(BatchedTest, ProgressFollowsSpeechAndReportsSegmentsOnceInOrder) {
  ASSERT_EQ(run(context()).size(), 1U);
  ASSERT_EQ(progress_.size(), 4U);
  Seconds last{};
  std::int64_t next = 0;
  for (const ReportedProgress& reported : progress_) {
    EXPECT_GT(reported.position, last);
    last = reported.position;
    for (const Segment& segment : reported.fresh) EXPECT_EQ(segment.id, next++);
  }
  EXPECT_NEAR(last.count(), 95, 1e-9);
  EXPECT_EQ(next, 4);
}

TEST_F(BatchedTest, OneChunksErrorIsTheFilesAndIsYieldedOnce) {
  engine_.answer = [this](const DecodeWindow& request) -> Result<Decoded> {
    if (chunk_of(request) == 2) return fail(Fault::device, "the worker is gone");
    return text(request, {0, 2000, 900});
  };
  const auto all = run(context());
  ASSERT_EQ(all.size(), 1U);
  ASSERT_FALSE(all.front());
  EXPECT_EQ(all.front().error().what, "the worker is gone");
  EXPECT_TRUE(engine_.open_now.empty());
}

TEST_F(BatchedTest, AChunkZeroThatFailsReleasesThoseThatWaitForItsLanguage) {
  rules_.language.reset();
  engine_.languages = {1, 2, 3};  // none that the tokenizer knows
  const auto all = run(context());
  ASSERT_EQ(all.size(), 1U);
  ASSERT_FALSE(all.front());
  EXPECT_TRUE(engine_.requests.empty());
}

TEST_F(BatchedTest, ChunksThatAreDroppedYieldTheReasonOnceWithTheLastOfThem) {
  const TranscriptionContext shared = context();
  std::vector<Work> work = work_of(shared);
  ASSERT_EQ(work.size(), 4U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(discard_work(work[i], {Fault::cancelled, "stopped"}).has_value());
  const auto whole = transcribe_work(work[3], shared);
  ASSERT_TRUE(whole.has_value());
  ASSERT_FALSE(*whole);
  EXPECT_EQ(whole->error().fault, Fault::cancelled);
  EXPECT_TRUE(engine_.opened.empty());
}

TEST_F(BatchedTest, FallbackIsEachWindowsOwn) {
  engine_.answer = [this](const DecodeWindow& request) {
    Decoded answer = text(request, {0, 2000, 900});
    if (chunk_of(request) == 1 && request.temperature < 0.3) answer.avg_logprob = -3;
    return answer;
  };
  const auto all = run(context());
  ASSERT_EQ(all.size(), 1U);
  ASSERT_TRUE(all.front());
  std::map<std::int32_t, int> decodings;
  for (const DecodeWindow& request : engine_.requests) ++decodings[chunk_of(request)];
  EXPECT_EQ(decodings, (std::map<std::int32_t, int>{{0, 1}, {1, 3}, {2, 1}, {3, 1}}));
  EXPECT_NEAR(all.front()->transcript.segments[1].temperature, 0.4, 1e-9);
  EXPECT_EQ(all.front()->outcome.counts.windows, 4U);
  EXPECT_EQ(all.front()->outcome.counts.decodings, 6U);
}

TEST_F(BatchedTest, SpeechCutByAWindowsEndIsDecodedAgain) {
  engine_.answer = [this](const DecodeWindow& request) {
    const std::int32_t frames = engine_.frames_of(request.window);
    if (frames < 1900) return text(request, {0, 3000, frames / 2});
    return text(request, {0, 2000, 500, 500, 2001, 700, 700});  // speech goes on at 14 s
  };
  const auto all = run(context());
  ASSERT_EQ(all.size(), 1U);
  ASSERT_TRUE(all.front());
  const auto& segments = all.front()->transcript.segments;
  ASSERT_EQ(segments.size(), 12U);
  EXPECT_NEAR(segments[2].start, 14, 0.04);
  EXPECT_NEAR(segments[2].end, 20, 0.04);
  EXPECT_EQ(all.front()->outcome.counts.windows, 8U);
}

TEST_F(BatchedTest, LanguageIsDetectedOnceInTheFirstChunk) {
  rules_.language.reset();
  const auto all = run(context());
  ASSERT_EQ(all.size(), 1U);
  ASSERT_TRUE(all.front());
  EXPECT_EQ(all.front()->transcript.language, "de");
  EXPECT_EQ(engine_.detections, 1U);
  for (const DecodeWindow& request : engine_.requests)
    EXPECT_EQ(request.prompt[1], special().language_token("de").value());
}

TEST_F(BatchedTest, EveryWindowGetsOnlyTheInitialPrompt) {
  rules_.initial_prompt = "Köhler";
  ASSERT_TRUE(run(context()).front());
  const auto prompt = tokenizer_->encode(" Köhler");
  ASSERT_EQ(engine_.requests.size(), 4U);
  for (const DecodeWindow& request : engine_.requests) {
    ASSERT_EQ(request.sot_index, std::ssize(prompt) + 1);
    EXPECT_EQ(request.prompt.front(), special().sot_prev);
    EXPECT_TRUE(std::equal(prompt.begin(), prompt.end(), request.prompt.begin() + 1));
  }
}

TEST_F(BatchedTest, NoTwoWindowsAreSampledAlike) {
  rules_.temperatures = {0.4};
  ASSERT_TRUE(run(context()).front());
  std::set<std::uint64_t> seeds;
  for (const DecodeWindow& request : engine_.requests) seeds.insert(request.decoding.seed);
  EXPECT_EQ(seeds.size(), 4U);
}

TEST_F(BatchedTest, FileWithoutSpeechIsEmptyWithTheDetectedLanguage) {
  rules_.language.reset();
  DecodedFile quiet = file();
  std::fill(quiet.speech.begin(), quiet.speech.end(), 0.0F);
  std::optional<Result<TranscribedFile>> whole;
  const TranscriptionContext shared = context();
  ASSERT_TRUE(prepare_work(std::move(quiet), shared, aborted_, [&](Work&& work) {
    whole = transcribe_work(work, shared);
    return true;
  }));
  ASSERT_TRUE(whole && *whole);
  EXPECT_TRUE((*whole)->transcript.segments.empty());
  EXPECT_EQ((*whole)->transcript.text, "");
  EXPECT_EQ((*whole)->transcript.language, "de");
  EXPECT_TRUE(engine_.requests.empty());
}

TEST_F(BatchedTest, AbortCancelsTheSearchForTheLoudestFrame) {
  way_.batched = false;
  aborted_ = true;
  const auto prepared = prepare_work(file(), context(), aborted_, [](Work&&) { return true; });
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().fault, Fault::cancelled);
}

TEST_F(BatchedTest, VadLoopDecodesJoinedSpeechWithRecordingTimes) {
  way_.batched = false;
  const TranscriptionContext shared = context();
  std::vector<Work> work = work_of(shared);
  ASSERT_EQ(work.size(), 1U);
  engine_.answer = [this](const DecodeWindow& request) { return text(request, {0, 2000, 500, 500, 2001, 1250}); };
  const auto whole = transcribe_work(work.front(), shared);
  ASSERT_TRUE(whole && *whole);
  // 86 s of speech: windows of 30, 30 and 26 s. The first segment from 10 to 25 s spans the silence at 20 s.
  const auto& segments = (*whole)->transcript.segments;
  ASSERT_EQ(segments.size(), 6U);
  EXPECT_NEAR(segments[1].start, 10, 0.04);
  EXPECT_NEAR(segments[1].end, 28, 0.04);
  EXPECT_NEAR(segments[2].start, 33, 0.04);
  EXPECT_NEAR(static_cast<double>(segments[2].seek), 3300, 4);
  EXPECT_NEAR(progress_.back().position.count(), 95, 0.04);
}

TEST_F(BatchedTest, AudioOutsideTheClipsIsNotDecoded) {
  way_.clips = {10, 30, 80};
  std::vector<std::int64_t> frames;
  for (const Work& work : work_of(context()))
    frames.push_back(std::get<ChunkMel>(std::get<ChunkWork>(work).audio).frames());
  // 10 to 20 and 23 to 30 s share a window with 80 to 95 s only where they fit.
  EXPECT_EQ(frames.size(), 2U);
  EXPECT_NEAR(static_cast<double>(frames[0]), 1700, 4);
  EXPECT_NEAR(static_cast<double>(frames[1]), 1500, 4);
}

TEST_F(BatchedTest, TranscribedDurationIsThatOfTheClips) {
  const auto requested = [&](std::vector<double> clips) {
    way_.clips = std::move(clips);
    const TranscriptionContext shared = context();
    const auto yielded = run(shared);
    EXPECT_EQ(yielded.size(), 1U);
    EXPECT_EQ(yielded.front()->outcome.duration, Seconds(95)) << "the file is as long as it is";
    return yielded.front()->outcome.requested.count();
  };
  EXPECT_DOUBLE_EQ(requested({0}), 95);
  EXPECT_DOUBLE_EQ(requested({10, 30, 80}), 35) << "20 s and the last 15, silence and all";
  EXPECT_DOUBLE_EQ(requested({0, 300}), 95) << "a clip ends with its recording";
}

TEST_F(BatchedTest, ForcedCutCountsOnlyWhereAWindowEnds) {
  const auto cuts = [&](double longest) {
    way_.vad->max_speech_duration_s = longest;
    const TranscriptionContext shared = context();
    const auto yielded = run(shared);
    EXPECT_EQ(yielded.size(), 1U);
    return yielded.front()->outcome.forced_cuts;
  };
  engine_.answer = [this](const DecodeWindow& request) { return text(request, {0, 2000, 900}); };
  EXPECT_EQ(cuts(30), 0U) << "every stretch fits into a window";
  way_.clips = {0, 20};
  EXPECT_EQ(cuts(8), 0U) << "20 s in three pieces that stand in a row in one window";
  way_.clips = {0};
  EXPECT_EQ(cuts(8), 2U) << "eight cuts; the second and the third stretch begin in one window and end in the next";
}
