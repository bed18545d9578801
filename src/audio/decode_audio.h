#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "audio/audio_choice.h"
#include "audio/byte_source.h"
#include "audio/sample_reader.h"
#include "base/error.h"

namespace tutti {

/// Where decoded audio goes: 16 kHz, mono, 16 bits.
class PcmSink {
 public:
  virtual ~PcmSink() = default;
  virtual Result<void> take(std::span<const std::int16_t> pcm) = 0;
  /// Forgets everything but the first `samples`: another decoder begins again there.
  virtual Result<void> cut(std::int64_t samples) = 0;
};

struct DecodedAudio {
  std::int64_t samples = 0;
  std::vector<std::string> losses{};  // what damage cost
  std::vector<std::string> notes{};   // what was chosen, and the tracks and channels there are
  std::vector<SampleRange> gaps{};    // silence where the file has no audio, in order
  std::int32_t track = 1;             // that was decoded, among the audio tracks
  std::vector<std::string> tracks{};  // what they are called; of a file that is joined of several, the first one's
};

/// Decodes encoded bytes in this process, streaming. `name` (without folders) only helps to recognise formats that have
/// no signature. A codec that crashes takes the process with it: programs call decode_recording, which puts a child
/// process around this. No audio at all is Fault::corrupt. Recordings behind one another in one file are decoded one
/// after the other; `choice` holds for each of them.
Result<DecodedAudio> decode_audio(ByteSource& bytes, const std::string& name, PcmSink& sink,
                                  const AudioChoice& choice = {});

}  // namespace tutti
