// The guards of a corpus.

#include "prepare/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::HasSubstr;

class Corpus : public testing::Test {
 protected:
  std::string fault(const std::vector<std::string>& named, const std::vector<PrepareInput>& inputs = {}) const {
    const CorpusRequest request{.out = folder_ / "out", .options = corpus_options(2)};
    const auto claimed = claim_corpus(request, named, inputs);
    return claimed ? "" : claimed.error().text();
  }
  const TempFolder folder_{};
};

TEST_F(Corpus, FolderThatIsReadIsNotFilled) {
  ASSERT_TRUE(make_folders(folder_ / "out"));
  EXPECT_THAT(fault({(folder_ / "out").string()}), HasSubstr("is read, and not to be filled"));
  EXPECT_EQ(fault({(folder_ / "talks").string()}), "");
}

TEST_F(Corpus, RecordingIsNotWrittenOnto) {
  ASSERT_TRUE(make_folders(folder_ / "out/audio"));
  const auto recording = folder_ / "out/audio/talk.flac";
  ASSERT_TRUE(write_file_atomically(recording, "x"));
  EXPECT_NE(fault({"list.csv"}, {{.path = recording}}), "");
}

TEST_F(Corpus, SeveralRecordingsAreAlignedAlikeWhateverTheirNumber) {
  EXPECT_FALSE(corpus_options(1).deterministic);
  EXPECT_TRUE(corpus_options(2).deterministic);
  EXPECT_TRUE(corpus_options(2).long_form.words.has_value());
}

}  // namespace
}  // namespace tutti
