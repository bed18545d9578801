#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "link/messages.h"

namespace tutti {

/// A message as bytes: one tag byte (protocol version in the high half, kind in the low one), then its fields in the
/// order of `Layout` (message_fields.h), little-endian, texts and lists behind a 32-bit length.
/// Texts beyond kMaxText are cut (only log lines and error texts get that long); a list beyond kMaxItems throws
/// std::length_error, for nothing of ours makes one.
std::string encode_message(const ToWorker& message);
std::string encode_message(const ToControl& message);

/// The message in `bytes`, all of which must belong to it. The peer is not trusted: lengths are checked against the
/// message and the limits before anything is allocated, truth values and enumerations against their range. The error
/// (Fault::corrupt) names the message, the field and the offset in bytes.
Result<ToWorker> decode_to_worker(std::string_view bytes);
Result<ToControl> decode_to_control(std::string_view bytes);

/// The name of a message's kind, for people: "DecodeWindow".
std::string_view name_of(const ToWorker& message);
std::string_view name_of(const ToControl& message);

}  // namespace tutti
