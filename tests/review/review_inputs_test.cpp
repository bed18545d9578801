// What a review is made of.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "review/review.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ReviewInputs : public testing::Test {
 protected:
  std::filesystem::path file(const char* name) const {
    const auto path = folder_ / name;
    EXPECT_TRUE(make_folders(path.parent_path()));
    EXPECT_TRUE(write_file_atomically(path, "{}"));
    return path;
  }
  const TempFolder folder_{};
};

TEST_F(ReviewInputs, FoldersAreSearchedAndFilesTakenAsNamed) {
  const auto b = file("in/b.json"), a = file("in/deep/a.json");
  file("in/b.txt");
  const auto found = find_transcripts({"named.json", (folder_ / "in").string()});
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_THAT(*found, ElementsAre("named.json", b, a));
  ASSERT_TRUE(make_folders(folder_ / "none"));
  EXPECT_THAT(find_transcripts({(folder_ / "none").string()}).error().what, HasSubstr("found none"));
}

TEST_F(ReviewInputs, RecordingIsFoundBesideItsTranscript) {
  const auto transcript = file("talk.json"), recording = file("talk.mp3"), other = file("other.json");
  const auto inputs = review_inputs({transcript, other}, {});
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_EQ(inputs[0].recording, recording);
  EXPECT_TRUE(inputs[1].recording.empty());
}

TEST_F(ReviewInputs, PageIsNotWrittenOntoATranscript) {
  const auto page = file("review.csv");
  EXPECT_FALSE(claim_review_pages({{.transcript = page}}, folder_.path()));
  EXPECT_TRUE(claim_review_pages({{.transcript = page}}, folder_ / "out"));
}

TEST_F(ReviewInputs, ListIsOneLineOfJson) {
  ReviewList list;
  list.looked_at = 2;
  list.recordings.push_back({.name = "talk.mp3", .transcript = "talk.json", .doubt = 1});
  const auto json = nlohmann::json::parse(review_json(list));
  EXPECT_EQ(json["looked_at"], 2);
  EXPECT_EQ(json["recordings"][0]["recording"], "talk.mp3");
  EXPECT_FALSE(json.contains("conversations")) << "no transcript names speakers";
}

}  // namespace
}  // namespace tutti
