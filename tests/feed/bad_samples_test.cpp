#include "feed/bad_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "feed/corpus.h"
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

TEST(BadSamples, TornLastLineOfEarlierRunIsReplaced) {
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

TEST(BadSamples, BlankOrNonUtf8TextsAreReportedAndSkipped) {
  const Corpus corpus({1.0, 1.0, 1.0});
  const auto table = corpus.folder() / "set.csv";
  ASSERT_TRUE(write_file_atomically(table, "id,audio,text\ns0,s0.wav,caf\xC3\xA9\ns1,s1.wav,caf\xE9\ns2,s2.wav,  \n"));
  FeedOptions options = options_for(table);
  options.bad_samples = corpus.folder() / "bad.jsonl";
  EXPECT_EQ(ids_of(all_batches(options)), std::vector<std::string>{"s0"});
  const std::string lines = *read_file(options.bad_samples);
  EXPECT_THAT(lines, HasSubstr(R"({"id":"s1","reason":"set.csv:3: its text is not UTF-8)"));
  EXPECT_THAT(lines, HasSubstr(R"({"id":"s2","reason":"its text is missing"})"));
}

TEST(BadSamples, AListIsNoText) {
  Corpus corpus({1.0, 1.0});
  corpus.write(R"({"id":"s0","audio":"s0.wav","text":7})"
               "\n"
               R"({"id":"s1","audio":"s1.wav","text":["a","b"]})"
               "\n");
  FeedOptions options = options_for(corpus.manifest());
  options.bad_samples = corpus.folder() / "bad.jsonl";
  EXPECT_EQ(ids_of(all_batches(options)), std::vector<std::string>{"s0"});
  EXPECT_THAT(*read_file(options.bad_samples), HasSubstr(R"(text: expected a text, found [\"a\",\"b\"])"));
}

}  // namespace
}  // namespace tutti
