// The decoder entry on bytes in memory: header reading, libsndfile, FFmpeg, rate conversion, losses. In this process,
// where decode_recording would put a child around it.
#include <cstddef>
#include <cstdint>
#include <span>

#include "audio/decode_audio.h"

namespace {

/// Counts PCM samples and stops after a few minutes of audio: a header of 30 bytes may declare hours of silence.
class EnoughPcm final : public tutti::PcmSink {
 public:
  tutti::Result<void> take(std::span<const std::int16_t> pcm) override {
    taken_ += pcm.size();
    if (taken_ < kEnough) return {};
    return tutti::fail(tutti::Fault::cancelled, "enough");
  }
  tutti::Result<void> cut(std::int64_t samples) override {
    taken_ = static_cast<std::size_t>(samples);
    return {};
  }
  std::size_t taken() const { return taken_; }

 private:
  static constexpr std::size_t kEnough = 16000 * 300;
  std::size_t taken_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tutti::MemoryBytes bytes(std::as_bytes(std::span(data, size)));
  EnoughPcm pcm;
  const auto decoded = tutti::decode_audio(bytes, "", pcm);
  // A result must be what was delivered, and an empty one must be an error.
  if (decoded && (decoded->samples <= 0 || static_cast<std::size_t>(decoded->samples) != pcm.taken())) __builtin_trap();
  if (!decoded && decoded.error().what.empty()) __builtin_trap();
  return 0;
}
