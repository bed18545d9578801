#include "base/log.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "support/log_capture.h"

using namespace tutti;

TEST(Log, AFilesNameNeitherMovesTheCursorNorBeginsALine) {
  LogCapture output;
  log(Level::error, "new\nline \x1b[31mred.wav: größe");
  EXPECT_EQ(output.wait_for("line").text, "new line  [31mred.wav: größe") << "what is no control character stays";
}

TEST(Controls, AreThoseOfAsciiAndOfLatin1AsUtf8) {
  EXPECT_EQ(without_controls("a\tb\x7f"
                             "c\xc2\x9b"
                             "d"),
            "a b c d");
  EXPECT_EQ(without_controls("\xc2\xa0ü 日本\xc2"), "\xc2\xa0ü 日本\xc2") << "a cut character is left";
}
