#include <gtest/gtest.h>

#include "base/files.h"
#include "review/review_pages.h"
#include "support/temp_folder.h"

using namespace tutti;

TEST(BatchReview, ReviewsTheJsonOfFinishedJobs) {
  const TempFolder folder;
  ReviewPages pages(folder / "state", Existing::keep);
  const auto write = [&](const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file_atomically(folder / name,
                                      "{\"language\":\"en\",\"segments\":[{\"start\":0,\"end\":9,"
                                      "\"text\":\"" +
                                          text + "\"}]}"));
  };
  write("good.json", "Good evening to you all.");
  write("loop.json", "and so and so and so and so and so and so and so and so and so and so");
  std::vector<BatchJob> jobs(3);
  const char* names[] = {"good", "loop", "failed"};
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].spec.name = names[i];
    jobs[i].spec.key = folder / names[i];
    jobs[i].formats = {Format::txt, Format::json};
  }
  const auto list = review_batch(jobs, folder.path(), pages, {}, [] { return false; });
  ASSERT_TRUE(list) << list.error().text();
  EXPECT_EQ(list->looked_at, 2U) << "the failed one has no output";
  ASSERT_EQ(list->recordings.size(), 1U);
  EXPECT_EQ(list->recordings[0].name, "loop");
  EXPECT_TRUE(std::filesystem::exists(folder / "review.html"));
}

TEST(BatchReview, CountsTranscriptsWithoutText) {
  const TempFolder folder;
  ReviewPages pages(folder / "state", Existing::keep);
  ASSERT_TRUE(write_file_atomically(folder / "a.json", R"({"segments":[]})"));
  ASSERT_TRUE(write_file_atomically(folder / "b.json", R"({"segments":[{"start":0,"end":1,"text":" "}]})"));
  ASSERT_TRUE(write_file_atomically(folder / "c.json", R"({"segments":[{"start":0,"end":3,"text":" Good day."}]})"));
  std::vector<BatchJob> jobs(3);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].spec.key = folder / std::string(1, static_cast<char>('a' + i));
    jobs[i].formats = {Format::json};
  }
  const auto list = review_batch(jobs, folder.path(), pages, {}, [] { return false; });
  ASSERT_TRUE(list) << list.error().text();
  EXPECT_EQ(list->looked_at, 3U);
  EXPECT_EQ(list->without_speech, 2U);
  EXPECT_NE(read_file(folder / "review.html")->find("2 without speech"), std::string::npos);
}

TEST(BatchReview, StopsOnRequestWithoutWritingReview) {
  const TempFolder folder;
  ReviewPages pages(folder / "state", Existing::keep);
  ASSERT_TRUE(write_file_atomically(folder / "a.json", "{\"segments\":[]}"));
  std::vector<BatchJob> jobs(1);
  jobs[0].spec.key = folder / "a";
  jobs[0].formats = {Format::json};
  const auto list = review_batch(jobs, folder.path(), pages, {}, [] { return true; });
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().fault, Fault::cancelled);
  EXPECT_FALSE(std::filesystem::exists(folder / "review.html"));
  EXPECT_EQ(review_batch({}, folder.path(), pages, {}, [] { return false; })->looked_at, 0U);
}

TEST(BatchReview, APageThatWasEditedStaysAndTheNewOneGoesBesideIt) {
  const TempFolder folder;
  const auto page = folder / "review.csv";
  ASSERT_TRUE(ReviewPages(folder / "state", Existing::keep).write(page, "first"));
  ASSERT_TRUE(ReviewPages(folder / "state", Existing::keep).write(page, "second"));
  EXPECT_EQ(read_file(page).value(), "second") << "it was the store's own";
  ASSERT_TRUE(write_file_atomically(page, "my notes"));
  ReviewPages pages(folder / "state", Existing::keep);
  ASSERT_TRUE(pages.write(page, "third"));
  EXPECT_EQ(read_file(page).value(), "my notes");
  EXPECT_EQ(pages.last(), folder / "review.new.csv");
  EXPECT_EQ(read_file(pages.last()).value(), "third");
  ASSERT_TRUE(ReviewPages(folder / "state", Existing::replace).write(page, "fourth"));
  EXPECT_EQ(read_file(page).value(), "fourth");
}
