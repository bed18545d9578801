// `tutti review` as people run it, on what openai-whisper wrote for the shared clips.

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_data.h"

using namespace tutti;

namespace {

using Json = nlohmann::json;

/// The transcripts of all shared clips, as .json files in `folder`; the silent one has invented text.
void write_transcripts(const std::filesystem::path& folder) {
  const Json expected = Json::parse(*read_file(test_data() / "whisper-tiny.en/expected.json"));
  for (Json clip : expected["clips"]) {
    const auto name = std::filesystem::path(clip["path"].get<std::string>()).stem().string();
    if (name == "silence") {
      clip["segments"][0]["text"] = " Thanks for watching <b>us</b>!";
      clip["segments"][0]["end"] = 6;
    }
    clip["language"] = "en";
    ASSERT_TRUE(write_file_atomically(folder / (name + ".json"), clip.dump()));
  }
}

ProgramEnd review(const TempFolder& folder, std::vector<std::string> more) {
  std::vector<std::string> words{tutti_program(),           "review",       "--out",
                                 (folder / "out").string(), "--audio-root", (test_data() / "whisper-tiny.en").string(),
                                 (folder / "in").string()};
  words.insert(words.end(), more.begin(), more.end());
  return run_program(words);
}

}  // namespace

TEST(Review, InventedSpeechIsAtTheTopAndGoodTranscriptsAreNotListed) {
  TUTTI_NEEDS("whisper-tiny.en/expected.json");
  const TempFolder folder;
  write_transcripts(folder / "in");
  const ProgramEnd end = review(folder, {"--json"});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const Json list = Json::parse(end.out);
  EXPECT_EQ(list["looked_at"], 12);
  EXPECT_EQ(list["not_heard"], 0);
  ASSERT_FALSE(list["recordings"].empty());
  EXPECT_EQ(list["recordings"][0]["recording"], "silence.wav");
  EXPECT_EQ(list["recordings"][0]["findings"][0]["kind"], "invented");
  for (const Json& recording : list["recordings"])
    EXPECT_FALSE(recording["recording"].get<std::string>().starts_with("string-")) << recording;
  const auto page = read_file(folder / "out/review.html");
  ASSERT_TRUE(page);
  EXPECT_NE(page->find("silence.wav#t="), std::string::npos);
  EXPECT_NE(page->find("&lt;b&gt;us&lt;/b&gt;"), std::string::npos);
  EXPECT_NE(page->find("<path class=\"w\""), std::string::npos);
}

TEST(Review, ATranscriptThatCannotBeReadCostsItsLineAndAnExitCode) {
  TUTTI_NEEDS("whisper-tiny.en/expected.json");
  const TempFolder folder;
  write_transcripts(folder / "in");
  ASSERT_TRUE(write_file_atomically(folder / "in/broken.json", "{"));
  const ProgramEnd end = review(folder, {"--text-only"});
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_NE(end.out.find("not checked: "), std::string::npos) << end.out;
  EXPECT_NE(end.out.find("12 done, "), std::string::npos) << end.out;
}

TEST(Review, FolderWithoutTranscriptsIsAnError) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "in/notes.txt", "nothing"));
  const ProgramEnd end = review(folder, {});
  EXPECT_EQ(end.exit_code, 4);
  EXPECT_NE(end.err.find("expected JSON transcripts in it, found none"), std::string::npos) << end.err;
  EXPECT_EQ(run_program({tutti_program(), "review", "x.json"}).exit_code, 2) << "--out is missing";
}

namespace {

/// A transcript of two speakers with every output beside it, as Tutti writes them.
class RenamingTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(
        write_file_atomically(folder_ / "in/talk.json",
                              R"({"segments": [{"start": 0, "end": 2, "text": " Good day.", "speaker": "SPEAKER_00"},
            {"start": 2, "end": 4, "text": " Yes, yes.", "speaker": "SPEAKER_01"}], "language": "en"})"));
    for (const char* format : {"all", "json", "rttm"}) {
      const auto end = run_program({tutti_program(), "convert", (folder_ / "in/talk.json").string(), "-f", format, "-o",
                                    (folder_ / "out").string()});
      ASSERT_EQ(end.exit_code, 0) << end.err;
    }
  }

  std::filesystem::path out(const std::string& extension) const { return folder_ / "out" / ("talk." + extension); }
  std::string text(const std::string& extension) const { return read_file(out(extension)).value_or("(missing)"); }
  ProgramEnd rename(std::vector<std::string> more) const {
    std::vector<std::string> words{tutti_program(), "review", out("json").string(), "--state",
                                   (folder_ / "state").string()};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }

  const TempFolder folder_;
};

}  // namespace

TEST_F(RenamingTest, ANewNameIsInEveryOutput) {
  const std::string tsv = text("tsv");
  const ProgramEnd end = rename({"--names", "SPEAKER_01=Bert B.", "--names", "SPEAKER_00=Anna"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(text("txt"), "[Anna]: Good day.\n[Bert B.]: Yes, yes.\n");
  EXPECT_NE(text("srt").find("\n[Bert B.]: Yes, yes.\n"), std::string::npos) << text("srt");
  EXPECT_NE(text("vtt").find("\n[Anna]: Good day.\n"), std::string::npos) << text("vtt");
  EXPECT_NE(text("rttm").find(" 2.000 2.000 <NA> <NA> Bert_B. <NA> <NA>"), std::string::npos) << text("rttm");
  EXPECT_EQ(Json::parse(text("json"))["segments"][1]["speaker"], "Bert B.");
  EXPECT_EQ(text("tsv"), tsv);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "state")) << "no store is made";
  EXPECT_EQ(rename({"--names", "Bert B.=Chris"}).exit_code, 0) << "again and again";
  EXPECT_NE(text("rttm").find("<NA> Chris <NA>"), std::string::npos) << text("rttm");
}

TEST_F(RenamingTest, FilesOfOthersAreNamedAndLeftAlone) {
  ASSERT_TRUE(write_file_atomically(out("txt"), "[SPEAKER_01]: Yes, I corrected this.\n"));
  ASSERT_TRUE(write_file_atomically(out("vtt"), "my notes\n"));
  std::filesystem::rename(out("srt"), folder_ / "elsewhere.srt");
  std::filesystem::create_symlink(folder_ / "elsewhere.srt", out("srt"));
  const ProgramEnd end = rename({"--json", "--names", "SPEAKER_01=Bert"});
  EXPECT_EQ(end.exit_code, 3) << end.err;
  const Json done = Json::parse(end.out);
  EXPECT_EQ(done["renamed"], Json({out("rttm").string(), out("json").string()}));
  EXPECT_EQ(done["left_alone"], Json({out("txt").string(), out("srt").string()}));
  EXPECT_NE(end.err.find("talk.txt: not as Tutti wrote it"), std::string::npos) << end.err;
  EXPECT_EQ(text("txt"), "[SPEAKER_01]: Yes, I corrected this.\n");
  EXPECT_NE(text("srt").find("SPEAKER_01"), std::string::npos);
}

TEST_F(RenamingTest, NamesThatCannotBeGivenChangeNothing) {
  const std::string before = text("json");
  const auto refused = [&](const std::string& names, const std::string& why) {
    const ProgramEnd end = rename({"--names", names});
    EXPECT_EQ(end.exit_code, 2) << names;
    EXPECT_NE(end.err.find(why), std::string::npos) << end.err;
  };
  refused("SPEAKER_07=Anna", "Its speakers are SPEAKER_00, SPEAKER_01");
  refused("SPEAKER_00=SPEAKER_01", "would be the name of two speakers");
  refused("SPEAKER_00", "expected SPEAKER=NAME");
  EXPECT_EQ(text("json"), before);
  EXPECT_EQ(
      run_program({tutti_program(), "review", (folder_ / "out").string(), "--names", "SPEAKER_00=Anna"}).exit_code, 2)
      << "speakers of a folder";
  EXPECT_EQ(rename({"--names", "SPEAKER_00=SPEAKER_01,SPEAKER_01=SPEAKER_00"}).exit_code, 0) << "they may change names";
  EXPECT_EQ(text("txt"), "[SPEAKER_01]: Good day.\n[SPEAKER_00]: Yes, yes.\n");
}

TEST_F(RenamingTest, ThePageShowsTheNewNames) {
  const ProgramEnd end = rename({"--names", "SPEAKER_00=Anna", "--out", (folder_ / "review").string()});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  const std::string page = read_file(folder_ / "review/review.html").value_or("");
  EXPECT_NE(page.find("<span class=\"who s0\">Anna"), std::string::npos) << page;
  EXPECT_NE(page.find("<article class=\"turn s1\" id=\"c0t1\">"), std::string::npos) << page;
}
