#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_start.h"
#include "support/environment.h"
#include "support/log_lines.h"

using namespace tutti;
using testing::EndsWith;

TEST(CommandLine, IsWhatAShellWouldTakeAgain) {
  EXPECT_EQ(command_line("tutti batch", {"talks/a-b.mp3", "-o", "out", "--devices=cuda:0,cpu"}),
            "tutti batch talks/a-b.mp3 -o out --devices=cuda:0,cpu");
  EXPECT_EQ(command_line("tutti batch", {"my talks", "", "*.mp3", "it's", "größe"}),
            "tutti batch 'my talks' '' '*.mp3' 'it'\\''s' größe");
}

TEST(CommandLine, LongArgumentListIsCutWithTheRemainingCount) {
  const std::string line = command_line("tutti batch", std::vector<std::string>(100'000, "recording.mp3"));
  EXPECT_LT(line.size(), 5000U);
  EXPECT_THAT(line, EndsWith(" more)"));
}

TEST(CommandStart, AnErrorNamesTheVariableThatGaveTheValue) {
  const ScopedVariable config("TUTTI_CONFIG", nullptr), home("XDG_CONFIG_HOME", "/nowhere");
  const ScopedVariable price("TUTTI_PRICE", "-1");
  double value = 0, tag = 0;
  OptionTable table("batch", "Test.");
  table.add("price", value, "X", "what an hour costs");
  table.add("price-tag", tag, "X", "another");
  ASSERT_FALSE(start_command(table, {"--price-tag", "2"}));
  LogLines log;
  EXPECT_EQ(complain({Fault::usage, "--price: expected more than --price-tag, found -1", "Say --price 1"}), 2);
  EXPECT_EQ(log.texts,
            (std::vector<std::string>{"TUTTI_PRICE: expected more than --price-tag, found -1. Say --price 1"}));
  ASSERT_FALSE(start_command(table, {"--price", "3"}));
  complain({Fault::usage, "--price: expected 4"});
  EXPECT_EQ(log.texts.back(), "--price: expected 4") << "a flag has won";
}
