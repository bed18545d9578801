#include "prepare/prepare_inputs.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "support/log_capture.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::HasSubstr;

class PrepareInputs : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& content = "x") const {
    ASSERT_TRUE(write_file_atomically(folder_ / name, content));
  }

  LogCapture log_;
  TempFolder folder_;
};

TEST_F(PrepareInputs, RecordingsAndFoldersHaveTheirTextsBesideThem) {
  write("talks/a.mp3");
  write("talks/a.srt");
  write("b.wav");
  const auto inputs = prepare_inputs({folder_ / "b.wav", folder_ / "talks", folder_ / "b.wav"});
  ASSERT_TRUE(inputs) << inputs.error().text();
  ASSERT_EQ(inputs->size(), 2U);
  EXPECT_EQ(inputs->at(0).path, folder_ / "b.wav");
  EXPECT_EQ(inputs->at(1).path, folder_ / "talks/a.mp3");
  EXPECT_TRUE(inputs->at(1).rows.empty());
  EXPECT_EQ(log_.count("1 of 2 taken; 1 not audio by name (1 .srt)"), 1);
}

TEST_F(PrepareInputs, RowsOfATableAreTheTextsOfTheirRecording) {
  write("t.csv", "Filename;Text;Offset;Duration\na.mp3;One.;0;1,5\nb.mp3;Other.;;\na.mp3;Two.;1,5;2\n");
  const auto inputs = prepare_inputs({folder_ / "t.csv"});
  ASSERT_TRUE(inputs) << inputs.error().text();
  ASSERT_EQ(inputs->size(), 2U);
  EXPECT_EQ(inputs->at(0).path, folder_ / "a.mp3");
  ASSERT_EQ(inputs->at(0).rows.size(), 2U);
  EXPECT_EQ(inputs->at(0).rows[1].text, "Two.");
  EXPECT_EQ(inputs->at(0).rows[1].start, 1.5);
  EXPECT_EQ(inputs->at(0).rows[1].end, 3.5);
  EXPECT_EQ(inputs->at(1).rows[0].text, "Other.");
  EXPECT_EQ(inputs->at(1).rows[0].start, std::nullopt);
}

TEST_F(PrepareInputs, FoldersWithATableOfTheirTextsAreReadByIt) {
  write("hf/metadata.csv", "file_name,transcription\na.wav,One.\n");
  write("hf/a.wav");
  write("cv/train.tsv", "client_id\tpath\tsentence\nx\tb.mp3\tTwo.\nx\tc\tThree.\n");
  write("cv/clips/b.mp3");
  write("cv/clips/c.mp3");
  for (const auto& arguments : {std::vector<std::string>{folder_ / "hf", folder_ / "cv"},
                                {folder_ / "hf/metadata.csv", folder_ / "cv/train.tsv"}}) {
    const auto inputs = prepare_inputs(arguments);
    ASSERT_TRUE(inputs) << inputs.error().text();
    ASSERT_EQ(inputs->size(), 3U);
    EXPECT_EQ(inputs->at(0).path, folder_ / "hf/a.wav");
    EXPECT_EQ(inputs->at(0).rows.at(0).text, "One.");
    EXPECT_EQ(inputs->at(1).path, folder_ / "cv/clips/b.mp3");
    EXPECT_EQ(inputs->at(2).path, folder_ / "cv/clips/c.mp3");
    EXPECT_EQ(inputs->at(2).rows.at(0).text, "Three.");
  }
}

TEST_F(PrepareInputs, ATableWithoutTextsNamesRecordingsAlone) {
  write("t.csv", "path,name\na.mp3,Tides\n");
  const auto inputs = prepare_inputs({folder_ / "t.csv"});
  ASSERT_TRUE(inputs) << inputs.error().text();
  EXPECT_TRUE(inputs->at(0).rows.empty());
}

TEST_F(PrepareInputs, TheStampChangesWithTheRows) {
  write("a.mp3");
  PrepareInput input{.path = folder_ / "a.mp3", .rows = {{"One.", 0, 1}}};
  const std::string before = stamp_of_sources(input, {});
  EXPECT_NE(before, "");
  input.rows[0].text = "Two.";
  EXPECT_NE(stamp_of_sources(input, {}), before);
  input.path = folder_ / "gone.mp3";
  EXPECT_EQ(stamp_of_sources(input, {}), "");
}

TEST_F(PrepareInputs, NothingFoundIsAnErrorThatNamesTheInputs) {
  write("talks/notes.txt");
  EXPECT_THAT(prepare_inputs({folder_ / "talks"}).error().text(), HasSubstr("no recording was found among the inputs"));
}

}  // namespace
}  // namespace tutti
