#include "feed/bad_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::HasSubstr;

TEST(BadSamples, LinesReadAgainInLaterEpochsDoNotThinTheirShare) {
  const auto bad = *BadSamples::open({}, {.count = 100, .share = 0.1, .after = 10}, 10);
  bad->note_seen(10);
  EXPECT_TRUE(bad->add("a", "why"));
  bad->note_seen(10);
  const auto second = bad->add("b", "why");
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().what, HasSubstr("2 of 10 samples"));
}

TEST(BadSamples, ATornLastLineOfAnEarlierRunIsWrittenAnew) {
  const TempFolder folder;
  const std::string whole = R"({"id":"a","reason":"why"})"
                            "\n",
                    next = R"({"id":"b","reason":"why"})"
                           "\n";
  for (const std::string& before : {whole, std::string()}) {
    ASSERT_TRUE(write_file_atomically(folder / "bad.jsonl", before + R"({"id":"b","rea)"));
    const auto bad = *BadSamples::open(folder / "bad.jsonl", {}, 10);
    EXPECT_TRUE(bad->add("b", "why"));
    EXPECT_EQ(read_file(folder / "bad.jsonl").value(), before + next);
  }
}

}  // namespace
}  // namespace tutti
