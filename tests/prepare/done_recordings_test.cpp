#include "prepare/done_recordings.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(DoneRecordings, AreReadAsTheyWereShownWhateverTheirBytes) {
  const DoneRecording done{.path = "talks/a\n\xff.mp3",
                           .name = "a\n\xff",
                           .made_of = "12 34",
                           .metadata = "\"1\",\"two\nlines\"\n",
                           .refused = "{}\n",
                           .totals = {.samples = 3, .audio = Seconds(0.1), .refused = 1}};
  const auto read = read_done(show_done(done));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->path, done.path);
  EXPECT_EQ(read->name, done.name);
  EXPECT_EQ(read->made_of, done.made_of);
  EXPECT_EQ(read->metadata, done.metadata);
  EXPECT_EQ(read->refused, done.refused);
  EXPECT_EQ(read->totals.samples, 3);
  EXPECT_EQ(read->totals.audio, Seconds(0.1));
  EXPECT_EQ(read->totals.refused, 1);
}

TEST(DoneRecordings, InvalidRecordIsCorrupt) {
  const auto whole = show_done({.path = "a.mp3", .metadata = "line\n"});
  for (const std::string& text : {std::string(), std::string("hello"), whole.substr(0, whole.size() - 1)}) {
    const auto read = read_done(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().fault, Fault::corrupt);
  }
}

}  // namespace
}  // namespace tutti
