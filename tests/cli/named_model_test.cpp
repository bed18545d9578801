#include "cli/named_model.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "support/log_capture.h"
#include "support/temp_folder.h"

using namespace tutti;

TEST(NamedModel, LogNamesTheFolderThatANameWasFoundIn) {
  const TempFolder cache;
  const auto folder = cache / "openai--whisper-tiny.en";
  ASSERT_TRUE(write_file_atomically(folder / "model.bin", std::string("\6\0\0\0\x0C\0WhisperSpec\0", 18)));
  ASSERT_TRUE(write_file_atomically(folder / "tokenizer.json", "{}"));
  const ModelFolders folders{.fetched = cache.path()};
  const LogCapture log;
  ASSERT_EQ(find_named_model("tiny.en", folders).value(), folder);
  EXPECT_EQ(log.count("model tiny.en: " + folder.string()), 1);
  ASSERT_TRUE(find_named_model(folder.string(), folders));  // a path is known to who typed it
  ASSERT_FALSE(find_named_model("small.en", folders));
  EXPECT_EQ(log.count("model "), 1);
}
