#include "public/tutti/whisper_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "base/program_paths.h"

namespace tutti {
namespace {

using testing::HasSubstr;

/// An emulated GPU that plays models/nano: its text is made up, its time is not.
Result<WhisperTranscriber> emulated_model(const std::string& devices) {
  set_program_paths(ProgramPaths::in(TUTTI_BINARY_DIR "/bin"));
  return WhisperTranscriber::load({.model = TUTTI_SOURCE_DIR "/models/nano", .devices = devices});
}

/// Noise, so that it holds something in every window.
RecordingInput minutes(double count) {
  std::vector<float> samples(static_cast<std::size_t>(count * 60 * 16000));
  std::uint32_t state = 1;
  for (float& sample : samples) {
    state = state * 1664525 + 1013904223;
    sample = static_cast<float>(state >> 8) / (1 << 24) - 0.5F;
  }
  return std::move(*RecordingInput::of_samples(samples));
}

TEST(WhisperTranscriber, SegmentsComeInOrderAndMakeTheWholeTranscript) {
  auto model = emulated_model("emulated:2000x:12GB");
  ASSERT_TRUE(model) << model.error().text();
  auto transcription = model->transcribe(minutes(2));
  std::string text;
  std::size_t count = 0;
  for (;;) {
    const auto segment = transcription.next();
    ASSERT_TRUE(segment) << segment.error().text();
    if (!*segment) break;
    EXPECT_EQ((*segment)->id, static_cast<std::int64_t>(count++));
    text += (*segment)->text;
  }
  const auto whole = transcription.whole();
  ASSERT_TRUE(whole) << whole.error().text();
  EXPECT_EQ(whole->segments.size(), count);
  EXPECT_EQ(whole->text, text);
  EXPECT_GT(count, 3U);
  EXPECT_FALSE(*transcription.next()) << "the end stays the end";
}

TEST(WhisperTranscriber, FactsAreKnownBeforeTheFirstSegment) {
  auto model = emulated_model("emulated:2000x:12GB");
  ASSERT_TRUE(model) << model.error().text();
  auto transcription = model->transcribe(minutes(0.5), {.vad = VadOptions{}, .long_form = {.language = "en"}});
  const auto facts = transcription.facts();
  ASSERT_TRUE(facts) << facts.error().text();
  EXPECT_EQ(facts->duration, Seconds(30));
  EXPECT_LT(facts->speech, facts->duration) << "noise is no speech";
  EXPECT_EQ(facts->spoken.language, (LanguageProbability{"en", 1}));
  auto detected = model->transcribe(minutes(0.5));
  const auto found = detected.facts();
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->spoken.all.empty(), model->languages().empty()) << "a model of one language detects none";
}

TEST(WhisperTranscriber, CallerThatNoLongerWaitsEndsACall) {
  auto model = emulated_model("emulated:1x:12GB");
  ASSERT_TRUE(model) << model.error().text();
  auto transcription = model->transcribe(minutes(10));
  const auto left = transcription.whole([] { return false; });
  ASSERT_FALSE(left);
  EXPECT_EQ(left.error().fault, Fault::cancelled);
}

TEST(WhisperTranscriber, FirstSegmentIsThereLongBeforeTheLastAndTheRestIsCancelled) {
  auto model = emulated_model("emulated:30x:12GB");  // ten minutes take twenty seconds
  ASSERT_TRUE(model) << model.error().text();
  auto transcription = model->transcribe(minutes(10));
  const auto first = transcription.next();
  ASSERT_TRUE(first && *first);
  EXPECT_LT((*first)->end, 60);
  transcription.cancel();
  const auto end = transcription.whole();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().fault, Fault::cancelled);
  auto next = model->transcribe(minutes(0.2));
  EXPECT_TRUE(next.whole()) << "the device is free again";
}

TEST(WhisperTranscriber, EachRecordingHasItsOwnOptions) {
  auto model = emulated_model("emulated:2000x:12GB");
  ASSERT_TRUE(model) << model.error().text();
  auto wrong = model->transcribe(minutes(0.1), {.audio = {.track = 7}});
  auto timed = model->transcribe(minutes(0.5), {.long_form = {.words = WordRules{}}});
  auto plain = model->transcribe(minutes(0.5));
  const auto refused = wrong.whole();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("track"));
  const auto words = timed.whole(), without = plain.whole();
  ASSERT_TRUE(words && without);
  EXPECT_TRUE(has_word_times(*words));
  EXPECT_TRUE(without->segments.front().words.empty());
}

TEST(WhisperTranscriber, TranscriptionsThatEndedKeepNoFileOpen) {
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  auto model = emulated_model("emulated:2000x:12GB");
  ASSERT_TRUE(model) << model.error().text();
  ASSERT_TRUE(model->transcribe(minutes(0.1)).whole());
  const auto before = open_files();
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(model->transcribe(minutes(0.1)).whole());
  for (int i = 0; i < 8; ++i) model->transcribe(minutes(0.1)).cancel();
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (open_files() > before && std::chrono::steady_clock::now() < give_up)  // what was cancelled ends soon
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_LE(open_files(), before);
}

TEST(WhisperTranscriber, OptionsThatCannotBeIntendedAreErrorsOfLoad) {
  const std::string nano = TUTTI_SOURCE_DIR "/models/nano";
  const WhisperModelOptions refused[] = {{.model = nano, .threads = -5},
                                         {.model = nano, .batch_size = -5},
                                         {.model = nano, .longest = Seconds(-1)},
                                         {.model = nano, .compute_type = ""}};
  const char* names[] = {"threads -5", "batch_size -5", "longest", "found ''"};
  for (std::size_t i = 0; i < std::size(refused); ++i) {
    const auto model = WhisperTranscriber::load(refused[i]);
    ASSERT_FALSE(model) << names[i];
    EXPECT_EQ(model.error().fault, Fault::usage);
    EXPECT_THAT(model.error().what, HasSubstr(names[i]));
  }
}

TEST(WhisperTranscriber, MissingModelAndDeviceAreErrorsOfLoad) {
  const auto model = WhisperTranscriber::load({.model = "/nowhere/model", .devices = "cpu"});
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().fault, Fault::usage);
  EXPECT_THAT(model.error().what, HasSubstr("/nowhere/model"));
  const auto device = emulated_model("abacus");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().fault, Fault::usage);
}

}  // namespace
}  // namespace tutti
