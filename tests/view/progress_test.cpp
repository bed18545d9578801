#include "view/progress.h"

#include <gtest/gtest.h>

#include "view/text.h"

using namespace tutti;

TEST(ViewText, LengthsReadAsClocks) {
  EXPECT_EQ(length_text(Seconds(42.9)), "0:42");
  EXPECT_EQ(length_text(Seconds(3600 * 3 + 7 * 60 + 9)), "3:07:09");
  EXPECT_EQ(length_text(Seconds(-1)), "0:00");
}

TEST(ViewText, FittedTextTakesExactlyItsColumns) {
  for (const std::string text : {"short", "a rather long line of text", "日本語のとても長いテキスト", "naïve café"})
    for (std::size_t columns = 1; columns < 30; ++columns) {
      EXPECT_EQ(columns_of(fitted(text, columns)), columns) << text;
      EXPECT_EQ(columns_of(fitted(text, columns, true)), columns) << text;
    }
  EXPECT_EQ(fitted("monday-talk.mp3", 8, true), "…alk.mp3");
}

TEST(Progress, ControlCharactersAreNotShown) {
  ProgressState state{.files = 1};
  state.rows.push_back({.name = "a\x1b[2Jb.mp3", .total = Seconds(1), .text = " so\r\n\x07 on\xc2\x9b"});
  const auto line = render_progress(state, 80, 24)[0];
  EXPECT_NE(line.find("a [2Jb.mp3"), std::string::npos) << line;
  EXPECT_EQ(line.find_first_of("\x1b\r\n\x07"), std::string::npos);
  EXPECT_EQ(line.find("\xc2\x9b"), std::string::npos);
}

TEST(Progress, EveryLineFillsTheTerminalAndNoMore) {
  ProgressState state{.files_done = 3, .files = 5};
  state.rows.push_back(
      {.name = "lecture.mp3", .done = Seconds(60), .total = Seconds(120), .text = " and so my fellow"});
  state.rows.push_back({.name = "unknown.ogg"});
  state.audio_done = Seconds(600);
  state.audio_total = Seconds(1200);
  state.total_known = true;
  state.elapsed = Seconds(10);
  for (const std::size_t width : {40U, 80U, 120U}) {
    const auto lines = render_progress(state, width, 24);
    ASSERT_EQ(lines.size(), 3U);
    for (const auto& line : lines) EXPECT_EQ(columns_of(line), width) << line;
  }
  const auto lines = render_progress(state, 120, 24);
  EXPECT_NE(lines[0].find("1:00/2:00"), std::string::npos) << lines[0];
  EXPECT_NE(lines[2].find("60.0 × real time"), std::string::npos) << lines[2];
  EXPECT_NE(lines[2].find("0:10 left"), std::string::npos) << lines[2];
}

TEST(Progress, ALowTerminalShowsFewerBarsAndTheTotal) {
  ProgressState state{.files = 9};
  for (int i = 0; i < 9; ++i) state.rows.push_back({.name = std::to_string(i) + ".mp3", .total = Seconds(1)});
  EXPECT_EQ(render_progress(state, 80, 24).size(), 10U);
  const auto lines = render_progress(state, 80, 4);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_NE(lines[2].find("2.mp3"), std::string::npos) << lines[2];
  EXPECT_NE(lines[3].find("0/9 files"), std::string::npos) << lines[3];
  EXPECT_EQ(render_progress(state, 80, 1).size(), 1U);
}
