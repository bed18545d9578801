#include "cli/prepare/known_text.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(KnownText, OfAnotherEncodingIsRefusedWithItsLine) {
  const TempFolder folder;
  for (const char* ending : {".srt", ".txt"}) {
    const auto file = folder / (std::string("talk") + ending);
    ASSERT_TRUE(write_file_atomically(file, "1\n00:00:00,000 --> 00:00:01,000\ncaf\xE9 au lait\n"));
    const auto text = known_text(folder / "talk.wav", {});
    ASSERT_FALSE(text) << ending;
    EXPECT_THAT(text.error().text(), AllOf(HasSubstr(file.string()), HasSubstr("UTF-8"), HasSubstr("line 3")));
    std::filesystem::remove(file);
  }
}

TEST(KnownText, AByteOrderMarkIsNoPartOfAWord) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "talk.txt",
                                    "\xEF\xBB\xBF"
                                    "caf\xC3\xA9 au lait"));
  const auto text = known_text(folder / "talk.wav", {});
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_EQ(text->plain, "caf\xC3\xA9 au lait");
}

}  // namespace
}  // namespace tutti
