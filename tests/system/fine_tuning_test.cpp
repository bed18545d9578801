// Training on LJSpeech's layout as people have it.

#include <gtest/gtest.h>

#include "system/training_runs.h"

using namespace tutti;

TEST(FineTuning, LjSpeechFolderWithFlacTrainsAsItIs) {
  TUTTI_NEEDS("speech/lj/metadata.csv");
  const TempFolder out;
  const auto end =
      run_program(training(out.path(), {"--data", (test_data() / "speech/lj").string(), "--max-steps", "2"}));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const auto order = lines_of(out / "order.jsonl");
  ASSERT_EQ(order.size(), 2U);
  EXPECT_EQ(order[0]["ids"].size(), 2U);
  EXPECT_EQ(read_file(out / "bad_samples.jsonl").value_or(""), "");
}
