// A trace's file, as several processes and threads write it.

#include "metrics/shared_trace.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/files.h"
#include "metrics/event_trace.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using std::chrono::microseconds;
using testing::HasSubstr;

class SharedTraceTest : public testing::Test {
 protected:
  std::unique_ptr<SharedTrace> trace(const std::string& file, std::int64_t size = 0) {
    auto made = SharedTrace::over(OwnedFd(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), size);
    return std::move(*made);
  }
  std::string content() { return read_file(file_).value(); }

  const TempFolder folder_{};
  const std::string file_ = folder_ / "run.pftrace";
};

TEST_F(SharedTraceTest, ProcessesAppendToOneFileUnderTheirOwnNumbers) {
  const auto owner = trace(file_);
  const auto other = SharedTrace::at(owner->address());
  ASSERT_TRUE(other);
  EXPECT_NE(owner->take_process_number(), other->take_process_number());
  owner->append("one ");
  other->append("two ");
  owner->append("three");
  EXPECT_EQ(content(), "one two three");
}

TEST_F(SharedTraceTest, NothingIsTracedWithoutAnAddressOrBehindItsEnd) {
  EXPECT_FALSE(SharedTrace::at(""));
  EXPECT_FALSE(SharedTrace::at("/proc/1/fd/none:/proc/1/fd/none"));
}

TEST_F(SharedTraceTest, FailedWriteEndsTheTrace) {
  const auto owner = trace("/dev/full");
  owner->append("first");
  EXPECT_EQ(owner->failure(), ENOSPC);
  EXPECT_EQ(owner->size(), 0);
}

TEST_F(SharedTraceTest, WriterKilledInAWriteLeavesWholePackets) {
  const auto owner = trace(file_);
  constexpr std::size_t kPacket = 1 << 20;
  const pid_t child = ::fork();
  if (child == 0) {
    const auto mine = SharedTrace::at(owner->address());
    for (;;) mine->append(std::string(kPacket, 'b'));
  }
  while (owner->size() < 4 * std::int64_t{kPacket}) std::this_thread::yield();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  owner->append(std::string(kPacket, 'a'));
  owner->cut();
  const std::string all = content();
  ASSERT_EQ(all.size() % kPacket, 0U);
  EXPECT_EQ(all.substr(all.size() - kPacket), std::string(kPacket, 'a'));
  EXPECT_TRUE(std::ranges::all_of(all.substr(0, all.size() - kPacket), [](char c) { return c == 'b'; }));
}

TEST_F(SharedTraceTest, RowOfAnEndedThreadIsUsedAgain) {
  EventTrace traced(trace(file_), "test");
  const auto now = Clock::real().now();
  {
    EventTrace::Row first(traced, "decode"), second(traced, "decode");
    first.slice("a", now, now + microseconds(9));
    second.slice("a", now, now + microseconds(9));
  }
  EventTrace::Row third(traced, "decode");
  third.slice("b", now, now + microseconds(9));
  third.write();
  EXPECT_THAT(content(), HasSubstr("decode 2"));
  EXPECT_THAT(content(), testing::Not(HasSubstr("decode 3")));
}

TEST(TraceHead, HasItsMarkAndTheCommand) {
  EXPECT_THAT(trace_head("tutti features talk.mp3"), HasSubstr("tutti-trace: tutti features talk.mp3"));
}

}  // namespace
}  // namespace tutti
