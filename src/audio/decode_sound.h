#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "audio/byte_source.h"
#include "base/error.h"

namespace tutti {

/// Where decoded sound goes: 16 kHz, mono, 16 bits.
class PcmSink {
 public:
  virtual ~PcmSink() = default;
  virtual Result<void> take(std::span<const std::int16_t> pcm) = 0;
  /// Forgets everything taken so far: another decoder begins again.
  virtual Result<void> restart() = 0;
};

struct DecodedSound {
  std::int64_t samples = 0;
  std::vector<std::string> losses{};
};

/// Decodes encoded bytes in this process, streaming. `name` (without folders) only helps to recognise formats that have
/// no signature. A codec that crashes takes the process with it: programs call decode_recording, which puts a child
/// process around this. No sound at all is Fault::corrupt.
Result<DecodedSound> decode_sound(ByteSource& bytes, const std::string& name, PcmSink& sink);

}  // namespace tutti
