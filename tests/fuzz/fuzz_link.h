#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

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

/// One of our own messages with some of its bytes changed. The first of `bytes` selects the message; each following
/// three give a position (two bytes) and a change. Reaches every field without seeds, and follows changes of the
/// messages.
template <class Message, class Decode>
void fuzz_edited(const std::vector<Message>& samples, std::string_view bytes, const Decode& decode_bytes) {
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  if (bytes.empty()) return;
  std::string edited = encode_message(samples[at(0) % samples.size()]);
  for (std::size_t i = 1; i + 2 < bytes.size(); i += 3)
    edited[(at(i) + 256U * at(i + 1)) % edited.size()] = static_cast<char>(at(i + 2));
  fuzz_message(edited, decode_bytes);
}

}  // namespace tutti
