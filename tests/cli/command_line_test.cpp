#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_start.h"

using namespace tutti;
using testing::EndsWith;

TEST(CommandLine, IsWhatAShellWouldTakeAgain) {
  EXPECT_EQ(command_line("tutti batch", {"talks/a-b.mp3", "-o", "out", "--devices=cuda:0,cpu"}),
            "tutti batch talks/a-b.mp3 -o out --devices=cuda:0,cpu");
  EXPECT_EQ(command_line("tutti batch", {"my talks", "", "*.mp3", "it's", "größe"}),
            "tutti batch 'my talks' '' '*.mp3' 'it'\\''s' größe");
}

TEST(CommandLine, OfAHundredThousandFilesSaysHowManyThereWere) {
  const std::string line = command_line("tutti batch", std::vector<std::string>(100'000, "recording.mp3"));
  EXPECT_LT(line.size(), 5000U);
  EXPECT_THAT(line, EndsWith(" more)"));
}
