#include "public/tutti/whisper_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  auto wrong = model->transcribe(minutes(0.1), {.long_form = {.language = "klingon"}});
  auto timed = model->transcribe(minutes(0.5), {.long_form = {.words = WordRules{}}});
  auto plain = model->transcribe(minutes(0.5));
  const auto refused = wrong.whole();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("language: the model does not know 'klingon'"));
  const auto words = timed.whole(), without = plain.whole();
  ASSERT_TRUE(words && without);
  EXPECT_TRUE(has_word_times(*words));
  EXPECT_TRUE(without->segments.front().words.empty());
}

TEST(WhisperTranscriber, MissingModelAndDeviceAreErrorsOfLoad) {
  const auto model = WhisperTranscriber::load({.model = "/nowhere/model", .devices = "cpu"});
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().fault, Fault::missing);
  const auto device = emulated_model("abacus");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().fault, Fault::usage);
}

}  // namespace
}  // namespace tutti
