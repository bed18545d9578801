#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "base/process/process_setup.h"

using namespace tutti;

namespace {

/// 0: as it should be; else which of the expectations is not met.
int without_input_and_output() {
  ::close(STDIN_FILENO);
  ::close(STDOUT_FILENO);
  occupy_closed_streams();
  char byte = 0;
  if (::open("/dev/null", O_RDWR) <= STDERR_FILENO) return 1;
  if (::read(STDIN_FILENO, &byte, 1) != -1 || errno != EBADF) return 2;
  if (::write(STDOUT_FILENO, &byte, 1) != -1 || errno != EBADF) return 3;
  return 0;
}

/// A stream that is open stays what it is.
int with_output_to(int file) {
  ::dup2(file, STDOUT_FILENO);
  occupy_closed_streams();
  return ::write(STDOUT_FILENO, "x", 1) == 1 ? 0 : 1;
}

}  // namespace

TEST(StandardStreams, ClosedStreamsAreNotReusedAndUseStillFails) {
  EXPECT_EXIT(::_exit(without_input_and_output()), testing::ExitedWithCode(0), "");
}

TEST(StandardStreams, AnOpenOneIsLeftAlone) {
  const int file = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  EXPECT_EXIT(::_exit(with_output_to(file)), testing::ExitedWithCode(0), "");
  ::close(file);
}
