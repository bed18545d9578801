// The answers to files as lines, and the files sorted by them.

#include "train/classifier/answer_writer.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "support/closed_folder.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

const std::vector<std::string> kLabels{"leak", "pump, big"};

ClassifiedFile answer(const std::string& file, float leak) {
  ClassifiedFile made;
  made.file = file;
  made.probabilities = {leak, 1 - leak};
  made.best = leak >= 0.5F ? 0 : 1;
  return made;
}

ClassifiedFile answer_over_time() {
  auto made = answer("night.wav", 0.25F);
  made.clips = {{{.probabilities = {0.75F, 0.25F}, .best = 0}, Seconds(0), Seconds(10)},
                {{.probabilities = {0, 1}, .best = 1}, Seconds(10), Seconds(17.5)}};
  return made;
}

ClassifiedFile problem(const std::string& file) {
  ClassifiedFile made;
  made.file = file;
  made.error = "is \"silent\"";
  return made;
}

}  // namespace

TEST(AnswerWriter, JsonHasFileLabelScoreAndScoresInOrder) {
  AnswerWriter writer(AnswerFormat::json);
  EXPECT_EQ(writer.lines(kLabels, answer("a.wav", 0.75F)),
            "{\"file\":\"a.wav\",\"label\":\"leak\",\"score\":0.75,\"scores\":{\"leak\":0.75,\"pump, big\":0.25}}\n");
  EXPECT_EQ(writer.lines(kLabels, problem("b.wav")), "{\"file\":\"b.wav\",\"error\":\"is \\\"silent\\\"\"}\n");
  const auto json = nlohmann::json::parse(writer.lines(kLabels, answer_over_time()));
  ASSERT_EQ(json["clips"].size(), 2);
  EXPECT_EQ(json["clips"][1]["start"], 10);
  EXPECT_EQ(json["clips"][1]["end"], 17.5);
  EXPECT_EQ(json["clips"][1]["label"], "pump, big");
}

TEST(AnswerWriter, TableHasOneHeadAndARowAClip) {
  AnswerWriter writer(AnswerFormat::csv);
  EXPECT_EQ(writer.lines(kLabels, problem("b.wav")),
            "file,start,end,label,score,error,leak,\"pump, big\"\nb.wav,,,,,\"is \"\"silent\"\"\",,\n");
  EXPECT_EQ(writer.lines(kLabels, answer("a.wav", 0.75F)), "a.wav,,,leak,0.750000,,0.750000,0.250000\n");
  EXPECT_EQ(writer.lines(kLabels, answer_over_time()),
            "night.wav,0.000,10.000,leak,0.750000,,0.750000,0.250000\n"
            "night.wav,10.000,17.500,\"pump, big\",1.000000,,0.000000,1.000000\n");
}

TEST(AnswerWriter, TextNamesEveryClipBelowItsFile) {
  AnswerWriter writer(AnswerFormat::text);
  EXPECT_EQ(writer.lines(kLabels, answer_over_time()),
            "night.wav: pump, big 75.0 %\n  0.00 to 10.00 s: leak 75.0 %\n  10.00 to 17.50 s: pump, big 100.0 %\n");
}

TEST(SortedCopies, SureAnswersAreCopiedAndNoFileIsReplaced) {
  const TempFolder work;
  ASSERT_TRUE(write_file_atomically(work / "a/clip.wav", "first"));
  ASSERT_TRUE(write_file_atomically(work / "b/clip.wav", "second"));
  const auto file = [&](const char* name) { return (work.path() / name).string(); };
  SortedCopies copies(work / "sorted", 0.9);
  ASSERT_TRUE(copies.add(kLabels, answer(file("a/clip.wav"), 0.95F)));
  ASSERT_TRUE(copies.add(kLabels, answer(file("b/clip.wav"), 0.95F)));
  ASSERT_TRUE(copies.add(kLabels, answer(file("a/clip.wav"), 0.95F)));
  ASSERT_TRUE(copies.add(kLabels, answer(file("b/clip.wav"), 0.6F)));
  EXPECT_FALSE(copies.add(kLabels, answer(file("gone.wav"), 0.95F)));
  EXPECT_EQ(read_file(work / "sorted/leak/clip.wav"), "first");
  EXPECT_EQ(read_file(work / "sorted/leak/clip-2.wav"), "second");
  EXPECT_FALSE(is_there(work / "sorted/leak/clip-3.wav"));
  EXPECT_EQ(copies.copied(), 2);
  EXPECT_EQ(copies.present(), 1);
}

TEST(SortedCopies, CopiesThatFailAreNotCounted) {
  const TempFolder work;
  ASSERT_TRUE(write_file_atomically(work / "clip.wav", "sound"));
  std::filesystem::create_directories(work / "sorted/leak");
  const ClosedFolder closed(work / "sorted/leak");
  SortedCopies copies(work / "sorted", 0);
  EXPECT_FALSE(copies.add(kLabels, answer((work / "clip.wav").string(), 1)));
  EXPECT_EQ(copies.copied(), 0);
}

TEST(SortedCopies, LabelsThatLeaveTheFolderAreRefused) {
  const TempFolder work;
  ASSERT_TRUE(write_file_atomically(work / "clip.wav", "sound"));
  SortedCopies copies(work / "sorted", 0);
  const auto added = copies.add({"../leak", "pump"}, answer((work / "clip.wav").string(), 1));
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().fault, Fault::usage);
}
