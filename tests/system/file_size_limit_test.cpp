// What both programs do where files may not grow beyond some size (`ulimit -f`).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_data.h"

using namespace tutti;
using testing::HasSubstr;

namespace {

/// `tutti` with files of at most so many times 1024 bytes.
ProgramEnd limited(int kibibytes, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"/bin/bash", "-c", "ulimit -f " + std::to_string(kibibytes) + "; exec \"$@\"", "bash",
                                 tutti_program()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_program(words);
}

}  // namespace

TEST(FileSizeLimit, DecodedAudioAboveTheLimitFailsWithoutASignal) {
  const TempFolder out;
  const ProgramEnd end = limited(64, {"transcribe", "--model", TUTTI_SOURCE_DIR "/models/nano", "--device", "cpu", "-o",
                                      out.path(), "-f", "txt", TUTTI_SOURCE_DIR "/samples/george.wav"});
  EXPECT_EQ(end.exit_code, 3) << end.err;
  EXPECT_THAT(end.err, HasSubstr("george.wav: the temporary file for decoded sound: could not be written"));
  EXPECT_THAT(end.err, HasSubstr("a file may have at most 66 kB here"));
}

TEST(FileSizeLimit, CheckpointsThatExceedItEndTheTrainingNamingIt) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out;
  const ProgramEnd end =
      limited(100, {"train", "whisper", "--config", TUTTI_SOURCE_DIR "/recipes/smoke.toml", "--data",
                    (test_data() / "speech/ljspeech").string(), "--out", out.path().string(), "--batch-size", "2",
                    "--max-steps", "12", "--save-steps", "2", "--compute-threads", "1"});
  EXPECT_EQ(end.exit_code, 4) << end.err;
  EXPECT_THAT(end.err, HasSubstr("could not be written: File too large; a file may have at most 102 kB here"));
  EXPECT_FALSE(std::filesystem::exists(out / "checkpoints/step-00000002"));
}
