// The two programs of examples/embed, which see the public headers alone, beside what the commands do.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "support/run_program.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::HasSubstr;

constexpr const char* kPrograms = TUTTI_BINARY_DIR "/bin";

std::string example(const std::string& name) {
  return TUTTI_BINARY_DIR "/bin/example_" + name;
}

/// The text of lines such as "0.00 to 2.34 s: one two", behind `mark`.
std::string text_of(const std::string& out, const std::string& mark = " s:") {
  std::istringstream lines(out);
  std::string text;
  for (std::string line; std::getline(lines, line);)
    if (const auto at = line.find(mark); at != std::string::npos) text += line.substr(at + mark.size()) + "\n";
  return text;
}

TEST(Embed, SamplesInMemoryBecomeTheCommandsSegmentsAndCancel) {
  const std::string model = TUTTI_SOURCE_DIR "/models/nano", clip = TUTTI_SOURCE_DIR "/samples/george.wav";
  const auto end = run_program({example("transcribe_samples"), kPrograms, model, clip});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const TempFolder out;
  const auto command = run_program({tutti_program(), "transcribe", "--model", model, "--language", "en", "--beam-size",
                                    "None", "--output-dir", out.path().string(), clip});
  ASSERT_EQ(command.exit_code, 0) << command.err;
  EXPECT_FALSE(text_of(end.out).empty()) << end.out;
  EXPECT_EQ(text_of(end.out), text_of(command.out, "] "));
  EXPECT_TRUE(end.out.ends_with("\ncancelled\n")) << end.out;
}

TEST(Embed, ModelThatIsNotThereIsNamedWithoutFlags) {
  const auto end =
      run_program({example("transcribe_samples"), kPrograms, "no-such-model", TUTTI_SOURCE_DIR "/samples/george.wav"});
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_THAT(end.err, HasSubstr("no-such-model"));
  EXPECT_EQ(end.err.find("--"), std::string::npos) << end.err;
}

TEST(Embed, FeedsBatchesHoldEverySampleOnceAndTheLoopIsProfiled) {
  const auto end =
      run_program({example("draw_batches"), kPrograms, TUTTI_SOURCE_DIR "/tests/data/shared/speech/ljspeech"});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("batch 0: [2, 80, "));
  for (int i = 1; i <= 8; ++i) {
    const std::string id = "  LJ001-000" + std::to_string(i) + ": ";
    const auto first = end.out.find(id);
    ASSERT_NE(first, std::string::npos) << end.out;
    EXPECT_EQ(end.out.find(id, first + 1), std::string::npos) << "twice in one epoch: " << end.out;
  }
  EXPECT_THAT(end.out, HasSubstr("8 samples, "));
  EXPECT_THAT(end.out, HasSubstr(" batches a second; limited by: "));
}

}  // namespace
}  // namespace tutti
