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
