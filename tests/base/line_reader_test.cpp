#include "base/process/line_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "base/owned.h"

namespace tutti {
namespace {

using Lines = std::vector<std::string>;

class LinesOfAPipe : public testing::Test {
 protected:
  LinesOfAPipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    reader_ = OwnedFd(ends[0]);
    writer_ = OwnedFd(ends[1]);
  }
  void write(const std::string& text) {
    EXPECT_EQ(::write(writer_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  OwnedFd reader_{}, writer_{};
};

TEST_F(LinesOfAPipe, LineIsThereBeforeTheStreamIsOver) {
  LineReader lines(reader_.get(), "be");
  write("gun\nsecond\nthi");
  EXPECT_EQ(lines.next().value(), (Lines{"begun", "second"}));
  write("rd\n\n");
  EXPECT_EQ(lines.next().value(), Lines{"third"});
  write("last");
  writer_ = OwnedFd();
  EXPECT_EQ(lines.next().value(), Lines{"last"});
  EXPECT_EQ(lines.next().value(), Lines{});
}

TEST_F(LinesOfAPipe, EndsAndMarkOfWindowsAreNoPartOfALine) {
  LineReader lines(reader_.get(), "\xef\xbb\xbf");
  write("a b.wav\r\n\r\nc.wav\r\n");
  EXPECT_EQ(lines.next().value(), (Lines{"a b.wav", "c.wav"}));
}

TEST_F(LinesOfAPipe, NulsEndLinesWithLineEndsInThem) {
  LineReader lines(reader_.get(), "a.w", '\0');
  write(std::string("av\0b\r\nc.wav\r\0\0la", 16));
  EXPECT_EQ(lines.next().value(), (Lines{"a.wav", "b\r\nc.wav\r"}));
  write("st.wav");
  writer_ = OwnedFd();
  EXPECT_EQ(lines.next().value(), Lines{"last.wav"});
}

}  // namespace
}  // namespace tutti
