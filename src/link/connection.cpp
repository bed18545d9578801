#include "link/connection.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "base/error.h"
#include "base/try.h"

namespace tutti {
namespace {

using Steady = std::chrono::steady_clock;

struct FrameHeader {
  std::uint32_t size = 0;  // bytes of the message behind it
  std::uint32_t fds = 0;   // 0 or 1
};

FrameHeader header_of(std::string_view frame) {
  FrameHeader header;
  std::memcpy(&header, frame.data(), sizeof header);
  return header;
}

bool peer_left(int error_number) {
  return error_number == EPIPE || error_number == ECONNRESET;
}

// Waits until `fd` is ready for `events`; false once `until` has passed. EINTR starts again with what is left.
bool wait_for(int fd, short events, std::optional<Steady::time_point> until) {
  for (;;) {
    int milliseconds = -1;
    if (until) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - Steady::now()).count();
      milliseconds = left > 0 ? static_cast<int>(std::min<std::int64_t>(left, 1 << 30)) : 0;
    }
    pollfd waiting{.fd = fd, .events = events, .revents = 0};
    const int ready = ::poll(&waiting, 1, milliseconds);
    if (ready > 0) return true;
    if (ready == 0 && milliseconds >= 0) return false;
  }
}

std::optional<Steady::time_point> deadline(std::optional<Seconds> timeout) {
  if (!timeout) return {};
  return Steady::now() + std::chrono::duration_cast<Steady::duration>(*timeout);
}

// Space for one descriptor in a control message. CMSG_SPACE pads to eight bytes, so the kernel may fit two in.
struct FdBuffer {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> bytes{};
};

void attach(msghdr& header, FdBuffer& buffer, int fd) {
  header.msg_control = buffer.bytes.data();
  header.msg_controllen = buffer.bytes.size();
  cmsghdr* control = CMSG_FIRSTHDR(&header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(control), &fd, sizeof fd);
}

// Takes every descriptor out of a received header, so that none leaks; how many there were.
int detach(msghdr& header, OwnedFd& into) {
  int count = 0;
  for (cmsghdr* control = CMSG_FIRSTHDR(&header); control; control = CMSG_NXTHDR(&header, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t held = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < held; ++i, ++count) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(control) + i * sizeof fd, sizeof fd);
      into = OwnedFd(fd);
    }
  }
  return count;
}

}  // namespace

Connection::Connection(OwnedFd socket, std::string peer) : socket_(std::move(socket)), peer_(std::move(peer)) {}

Result<std::pair<OwnedFd, OwnedFd>> Connection::make_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno("socket pair", "could not be made");
  return std::pair(OwnedFd(ends[0]), OwnedFd(ends[1]));
}

Error Connection::gone() const {
  return {Fault::device, peer_ + " closed its connection"};
}

void Connection::shut() {
  ::shutdown(socket_.get(), SHUT_RDWR);
}

Result<void> Connection::send(std::string_view message, int fd, std::optional<Seconds> patience) {
  if (message.size() > kMaxMessage) throw std::length_error("a message is longer than the receiver takes");
  const FrameHeader header{.size = static_cast<std::uint32_t>(message.size()), .fds = fd >= 0 ? 1U : 0U};
  std::string frame(sizeof header + message.size(), '\0');
  std::memcpy(frame.data(), &header, sizeof header);
  std::memcpy(frame.data() + sizeof header, message.data(), message.size());
  const MutexLock turn(sending_);
  auto sent = send_frame(frame, fd, patience);
  if (!sent) shut();
  return sent;
}

Result<void> Connection::send_frame(std::string_view frame, int fd, std::optional<Seconds> patience) {
  const auto until = deadline(patience);
  while (!frame.empty()) {
    iovec part{.iov_base = const_cast<char*>(frame.data()), .iov_len = frame.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    FdBuffer buffer;
    if (fd >= 0) attach(header, buffer, fd);
    const ssize_t put = ::sendmsg(socket_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put > 0) {
      frame.remove_prefix(static_cast<std::size_t>(put));
      fd = -1;
    } else if (errno == EAGAIN) {
      if (!wait_for(socket_.get(), POLLOUT, until)) return fail(Fault::device, peer_ + " does not read its connection");
    } else if (peer_left(errno)) {
      return tl::unexpected<Error>(gone());
    } else if (errno != EINTR) {
      return fail_errno("connection to " + peer_, "could not send");
    }
  }
  return {};
}

// How long the partial frame must grow before more is known: first its header, then its message.
std::size_t Connection::wanted() const {
  if (partial_.size() < sizeof(FrameHeader)) return sizeof(FrameHeader);
  return sizeof(FrameHeader) + header_of(partial_).size;
}

// Reads towards `wanted()`. False: nothing is there.
Result<bool> Connection::read_some() {
  const std::size_t had = partial_.size();
  partial_.resize(wanted());
  iovec part{.iov_base = partial_.data() + had, .iov_len = partial_.size() - had};
  FdBuffer buffer;
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = buffer.bytes.data();
  header.msg_controllen = buffer.bytes.size();
  const ssize_t got = ::recvmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const int error_number = errno;
  partial_.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0 && (error_number == EAGAIN || error_number == EINTR)) return false;
  if (got == 0 || (got < 0 && peer_left(error_number))) return tl::unexpected<Error>(gone());
  if (got < 0) return tl::unexpected<Error>(system_error("connection to " + peer_, "could not receive", error_number));
  const bool had_fd = static_cast<bool>(partial_fd_);
  const int fds = detach(header, partial_fd_);
  if (fds + had_fd > 1 || (header.msg_flags & MSG_CTRUNC))
    return fail(Fault::corrupt, peer_ + " sent more than one descriptor beside a message");
  return true;
}

Result<std::optional<Connection::Packet>> Connection::receive(std::optional<Seconds> timeout) {
  const auto until = deadline(timeout);
  for (;;) {
    const auto more = TRY(read_some());
    if (!more) {
      if (!wait_for(socket_.get(), POLLIN, until)) return std::nullopt;
      continue;
    }
    if (partial_.size() < sizeof(FrameHeader)) continue;
    const FrameHeader header = header_of(partial_);
    if (header.size > kMaxMessage)
      return fail(Fault::corrupt, peer_ + " announced a message of " + std::to_string(header.size) +
                                      " bytes: at most " + std::to_string(kMaxMessage) + " are taken");
    if (header.fds != (partial_fd_ ? 1U : 0U))
      return fail(Fault::corrupt, peer_ + " announced " + std::to_string(header.fds) + " descriptors and sent " +
                                      (partial_fd_ ? "one" : "none"));
    if (partial_.size() < wanted()) continue;
    Packet packet{partial_.substr(sizeof header), std::move(partial_fd_)};
    partial_.clear();
    partial_fd_ = OwnedFd();
    return packet;
  }
}

}  // namespace tutti
