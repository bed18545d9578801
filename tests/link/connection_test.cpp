#include "link/connection.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include "link/shared_window.h"

using namespace tutti;
using testing::HasSubstr;

namespace {

struct Ends {
  Ends() : Ends(Connection::make_pair().value()) {}
  explicit Ends(std::pair<OwnedFd, OwnedFd> pair)
      : control(std::move(pair.first), "the worker"), worker(std::move(pair.second), "the control process") {}
  Connection control;
  Connection worker;
};

std::string raw_frame(std::uint32_t size, std::uint32_t fds, const std::string& message) {
  std::string frame(8, '\0');
  std::memcpy(frame.data(), &size, 4);
  std::memcpy(frame.data() + 4, &fds, 4);
  return frame + message;
}

void write_raw(const Connection& from, const std::string& bytes) {
  ASSERT_EQ(::send(from.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
}

}  // namespace

TEST(Connection, MessagesKeepTheirEdgesAndTheirOrder) {
  Ends ends;
  for (const std::string text : {"one", "", "three"}) ASSERT_TRUE(ends.control.send(text));
  for (const std::string text : {"one", "", "three"}) {
    const auto got = ends.worker.receive();
    ASSERT_TRUE(got && *got);
    EXPECT_EQ((*got)->message, text);
    EXPECT_FALSE((*got)->fd);
  }
}

TEST(Connection, AMessageLargerThanTheSocketBufferArrivesWhole) {
  Ends ends;
  std::string large(kMaxMessage, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 7 + i / 251);
  std::jthread sender([&] { EXPECT_TRUE(ends.control.send(large)); });
  const auto got = ends.worker.receive();
  ASSERT_TRUE(got && *got);
  EXPECT_TRUE((*got)->message == large);
}

TEST(Connection, ADescriptorArrivesWithItsOwnMessageAndIsClosedOnExec) {
  Ends ends;
  const std::vector<float> values{1.0F, 2.5F};
  const auto shared = SharedWindow::create(values).value();
  ASSERT_TRUE(ends.control.send("before"));
  ASSERT_TRUE(ends.control.send("with", shared.fd()));
  ASSERT_TRUE(ends.control.send("after"));
  EXPECT_FALSE(ends.worker.receive().value()->fd);
  auto with = ends.worker.receive().value();
  EXPECT_EQ(with->message, "with");
  ASSERT_TRUE(with->fd);
  EXPECT_TRUE(::fcntl(with->fd.get(), F_GETFD) & FD_CLOEXEC);
  EXPECT_FALSE(ends.worker.receive().value()->fd);
  const auto view = WindowView::map(std::move(with->fd), 2);
  ASSERT_TRUE(view);
  EXPECT_THAT(view->values(), testing::ElementsAreArray(values));
}

TEST(Connection, WhenTimeIsUpThereIsSimplyNothing) {
  Ends ends;
  const auto none = ends.control.receive(Seconds(0));
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
}

TEST(Connection, AMessageThatArrivedInPartIsKeptForTheNextCall) {
  Ends ends;
  const std::string frame = raw_frame(5, 0, "hello");
  for (std::size_t i = 0; i + 1 < frame.size(); ++i) {
    write_raw(ends.worker, frame.substr(i, 1));
    const auto none = ends.control.receive(Seconds(0));
    ASSERT_TRUE(none);
    ASSERT_FALSE(*none) << "after byte " << i;
  }
  write_raw(ends.worker, frame.substr(frame.size() - 1));
  EXPECT_EQ(ends.control.receive().value()->message, "hello");
}

TEST(Connection, APeerThatLeftIsAValueAfterItsLastWords) {
  Ends ends;
  ASSERT_TRUE(ends.worker.send("last words"));
  ends.worker.shut();
  EXPECT_EQ(ends.control.receive().value()->message, "last words");
  for (int again = 0; again < 2; ++again) {
    const auto gone = ends.control.receive();
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().fault, Fault::device);
    EXPECT_EQ(gone.error().what, "the worker closed its connection");
  }
  const auto unsent = ends.control.send("hello?");
  ASSERT_FALSE(unsent);
  EXPECT_EQ(unsent.error().fault, Fault::device);
}

TEST(Connection, AReaderThatWaitsIsReleasedWhenThePeerLeaves) {
  Ends ends;
  std::atomic<bool> released = false;
  std::jthread reader([&] { released = !ends.worker.receive(); });
  ends.control.shut();
  reader.join();
  EXPECT_TRUE(released);
}

TEST(Connection, SendTimesOutAndClosesWhenThePeerDoesNotRead) {
  Ends ends;
  const std::string large(kMaxMessage, 'x');
  const auto sent = ends.control.send(large, -1, Seconds(0.01));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().what, "the worker does not read its connection");
  EXPECT_FALSE(ends.control.send("more"));
}

TEST(Connection, AFrameThatAnnouncesTooMuchIsRefusedBeforeItIsRead) {
  Ends ends;
  write_raw(ends.worker, raw_frame(0xffffffff, 0, ""));
  const auto got = ends.control.receive();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().fault, Fault::corrupt);
  EXPECT_THAT(got.error().what, HasSubstr("4294967295 bytes"));
}

TEST(Connection, ADescriptorThatWasAnnouncedAndDidNotComeIsRefused) {
  Ends ends;
  write_raw(ends.worker, raw_frame(1, 1, "x"));
  const auto got = ends.control.receive();
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().what, HasSubstr("announced 1 descriptors and sent none"));
}

TEST(Connection, TwoDescriptorsBesideOneMessageAreRefused) {
  Ends ends;
  const OwnedFd first(::dup(0)), second(::dup(0));
  const std::array<int, 2> fds{first.get(), second.get()};
  std::string frame = raw_frame(1, 1, "x");
  iovec part{.iov_base = frame.data(), .iov_len = frame.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof fds)> control_buffer{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control_buffer.data();
  header.msg_controllen = control_buffer.size();
  cmsghdr* control = CMSG_FIRSTHDR(&header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof fds);
  std::memcpy(CMSG_DATA(control), fds.data(), sizeof fds);
  ASSERT_GT(::sendmsg(ends.worker.fd(), &header, MSG_NOSIGNAL), 0);
  const auto got = ends.control.receive();
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().what, HasSubstr("more than one descriptor"));
}

TEST(Connection, FramesOfManySendersDoNotMix) {
  Ends ends;
  constexpr int kSenders = 8, kEach = 200;
  std::vector<std::jthread> senders;
  for (int s = 0; s < kSenders; ++s)
    senders.emplace_back([&ends, s] {
      for (int i = 0; i < kEach; ++i)
        ASSERT_TRUE(ends.control.send(std::string(1 + static_cast<std::size_t>(i) * 37, static_cast<char>('a' + s))));
    });
  std::map<char, std::size_t> count;
  for (int i = 0; i < kSenders * kEach; ++i) {
    const std::string text = ends.worker.receive().value()->message;
    ASSERT_EQ(text.find_first_not_of(text[0]), std::string::npos);
    ASSERT_EQ(text.size(), 1 + count[text[0]]++ * 37) << "each sender's messages keep their order";
  }
}
