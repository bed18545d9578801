#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "audio/audio_choice.h"
#include "audio/decode_audio.h"
#include "base/error.h"

namespace tutti {

/// Messages of the decoding child to its parent over a pipe: progress while it works, then one end. Each message is a
/// length of 32 bits and that many bytes.
struct DecodeProgress {
  std::int64_t samples = 0;  // at 16 kHz
};
using DecodeDone = DecodedAudio;
struct DecodeFailed {
  Error error{};
};
using DecodeMessage = std::variant<DecodeProgress, DecodeDone, DecodeFailed>;

/// Descriptors and arguments that the parent gives the child: `<program> decode-audio <name> <most bytes of memory>
/// [<track> [<channel> [flags]]]`: track and channel as AudioChoice has them, and whether messages name flags (see
/// base/field_names.h).
inline constexpr std::string_view kDecodeCommand = "decode-audio";
inline constexpr std::string_view kDecodeNamesFlags = "flags";
inline constexpr int kDecodeReportFd = 3;
inline constexpr int kDecodeInputFd = 4;
inline constexpr int kDecodePcmFd = 5;

/// The message with its length in front.
std::string framed(const DecodeMessage& message);

/// Cuts messages out of the bytes of the pipe, in whatever pieces they come.
class DecodeInbox {
 public:
  void add(std::string_view bytes) { bytes_.append(bytes); }
  /// The next whole message into `message`; false when more bytes are needed; Fault::device for garbled ones.
  Result<bool> next(DecodeMessage& message);

 private:
  std::string bytes_;
};

}  // namespace tutti
