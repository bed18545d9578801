#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/mutex.h"
#include "base/owned.h"
#include "base/units.h"

namespace tutti {

/// The descriptor at which a child that `tutti` starts finds its end of the socket pair.
inline constexpr int kWorkerSocket = 3;

/// Most bytes one message may have; the receiver refuses more before it allocates.
inline constexpr std::size_t kMaxMessage = std::size_t{2} << 20;

/// One end of a socket pair that carries whole messages, each with at most one descriptor beside it.
///
/// SOCK_STREAM with a length in front, not SOCK_SEQPACKET: a packet must fit into the socket's send buffer, a limit
/// that the system's administrator sets and that a long prompt could meet; a frame has only our own limit. The
/// descriptor rides on the first byte of its frame.
///
/// `send` may be called by many threads; `receive` by one at a time; both at once.
class Connection {
 public:
  /// `peer` names the other side in errors ("the worker", "the control process").
  Connection(OwnedFd socket, std::string peer);

  /// Both ends of a new pair, closed on exec.
  static Result<std::pair<OwnedFd, OwnedFd>> make_pair();

  /// Sends one whole message; `fd` (borrowed) is duplicated into the peer unless -1. Waits while the peer reads slower
  /// than we send, at most `patience` where one is given. After any error the connection is shut for both directions,
  /// as the peer may hold half a message. Fault::device: the peer is gone or out of patience.
  Result<void> send(std::string_view message, int fd = -1, std::optional<Seconds> patience = {});

  struct Packet {
    std::string message;
    OwnedFd fd;  // set when the peer sent one beside the message
  };

  /// The next whole message; nothing once `timeout` (none: for ever; 0: only what is there) has passed, and then a
  /// message that arrived in part is kept for the next call. Fault::device "… closed its connection" once the peer is
  /// gone and everything it had sent was read; Fault::corrupt for a frame that our programs never send.
  Result<std::optional<Packet>> receive(std::optional<Seconds> timeout = {});

  /// Closes both directions: the peer and every thread waiting in here see the end.
  void shut();

  /// For poll() beside other descriptors.
  int fd() const { return socket_.get(); }

 private:
  Result<void> send_frame(std::string_view frame, int fd, std::optional<Seconds> patience);
  Result<bool> read_some();
  std::size_t wanted() const;
  Error gone() const;

  OwnedFd socket_;
  std::string peer_;
  Mutex sending_;  // held for a whole frame, I/O included: frames of two senders must not interleave
  std::string partial_;
  OwnedFd partial_fd_;
};

}  // namespace tutti
