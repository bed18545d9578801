// Where the outputs of `tutti batch` go, or cannot.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/batch_runs.h"

using namespace tutti;
using testing::HasSubstr;

namespace {

class BatchOutputsTest : public BatchTest {};

}  // namespace

TEST_F(BatchOutputsTest, BlockedOutputFailsAloneUntilUnblocked) {
  const fs::path blocked = folder_ / "out" / "r0.wav.json";
  fs::create_directories(blocked);
  for (int run = 0; run < 2; ++run) {
    const auto end = batch("emulated:200x");
    EXPECT_EQ(end.exit_code, 3) << end.err;
    EXPECT_THAT(end.err, HasSubstr("The transcript is whole in"));
    EXPECT_EQ(report()["successful"], 9);
    EXPECT_EQ(report()["failed"], 1);
  }
  fs::remove(blocked);
  EXPECT_EQ(batch("emulated:200x").exit_code, 0);
  EXPECT_EQ(report()["done_in_this_run"], 0);
  EXPECT_TRUE(outputs().contains("r0.wav.json"));
}

TEST_F(BatchOutputsTest, TooLongOutputNameFailsAloneBeforeOthersBegin) {
  const std::string name(248, 'n');
  fs::copy_file(recording(0), in_ / (name + ".wav"));  // n….wav.json has 257 bytes
  const auto end = batch("emulated:200x");
  EXPECT_EQ(end.exit_code, 3) << end.err;
  EXPECT_THAT(end.err, HasSubstr("expected a name of at most 255 bytes, found 257"));
  EXPECT_LT(end.err.find("found 257"), end.err.find("Progress: 1/"));
  const json reported = report();
  EXPECT_EQ(reported["successful"], 10);
  EXPECT_EQ(reported["failed"], 1);
}

TEST_F(BatchOutputsTest, ARecordingThatIsCalledAsItsTranscriptWouldBeIsNotOverwritten) {
  const std::string named = in_ / "talk.srt";
  write_tone(named, 3, 440);
  const std::string before = read_file(named).value();
  const auto end = batch("emulated:200x", {named, "--name-by", "stem", "-f", "srt", "--output-dir", in_.string()});
  EXPECT_EQ(end.exit_code, 2) << end.err;
  EXPECT_THAT(end.err, HasSubstr("talk.srt is an input itself and would be overwritten"));
  const fs::path link = folder_ / "link";
  fs::create_directory_symlink(in_, link);
  const auto linked = batch("emulated:200x", {named, "--name-by", "stem", "-f", "srt", "--output-dir", link.string()});
  EXPECT_EQ(linked.exit_code, 2) << linked.err;
  EXPECT_THAT(linked.err, HasSubstr("link/talk.srt is an input itself")) << "by whatever name";
  EXPECT_EQ(read_file(named).value(), before);
}

TEST_F(BatchOutputsTest, AReportThatCannotBeWrittenIsKnownBeforeTheWork) {
  ASSERT_TRUE(write_file_atomically(folder_ / "file", ""));
  const auto end = batch("emulated:200x", {"--report", (folder_ / "file" / "report.json").string()});
  EXPECT_EQ(end.exit_code, 4) << end.err;
  EXPECT_THAT(end.err, HasSubstr("report.json: cannot be written: Not a directory"));
  EXPECT_EQ(batch("emulated:200x", {"--report", folder_.path().string()}).exit_code, 2);
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(BatchOutputsTest, WithoutAFolderForDecodedAudioNothingIsBegunAndNothingFails) {
  auto without = settings();
  without.push_back("TMPDIR=" + (folder_ / "nowhere").string());
  const auto end = run_program(words("emulated:200x"), without);
  EXPECT_EQ(end.exit_code, 4) << end.err;
  EXPECT_THAT(end.err, HasSubstr("nowhere: recordings cannot be decoded there: No such file or directory"));
  ASSERT_EQ(batch("emulated:200x").exit_code, 0);
  EXPECT_EQ(run_program(words("emulated:200x"), without).exit_code, 0) << "nothing is left to decode";
}
