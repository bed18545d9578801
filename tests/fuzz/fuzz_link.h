#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "link/connection.h"
#include "link/wire.h"

namespace tutti {

/// Any bytes: whatever is accepted means exactly these bytes and nothing else.
template <class Decode>
void fuzz_message(std::string_view bytes, const Decode& decode_bytes) {
  const auto message = decode_bytes(bytes);
  if (message && encode_message(*message) != bytes) std::abort();
}

/// Any bytes as what a peer writes into its end of the connection before it leaves: the receiver gets messages, then an
/// end or a refusal, and never waits.
template <class Decode>
void fuzz_stream(std::string_view bytes, const Decode& decode_bytes) {
  auto pair = Connection::make_pair();
  if (!pair) return;
  Connection receiver(std::move(pair->first), "the peer");
  {
    const OwnedFd peer = std::move(pair->second);
    if (::send(peer.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return;
  }
  std::size_t received = 0;
  for (;;) {
    const auto packet = receiver.receive(Seconds(0));
    if (!packet) break;
    if (!*packet) std::abort();  // the peer has left: there is always an answer
    received += (*packet)->message.size();
    fuzz_message((*packet)->message, decode_bytes);
  }
  if (received > bytes.size()) std::abort();
}

}  // namespace tutti
