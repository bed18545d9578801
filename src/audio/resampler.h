#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "audio/audio_choice.h"
#include "audio/audio_source.h"
#include "audio/channel_loudness.h"

namespace tutti {

/// Takes 16 kHz mono 16-bit samples as they come out. An error (a full disk) ends the decoding.
using TakePcm = std::function<Result<void>(std::span<const std::int16_t>)>;

/// Converts audio of any format to 16 kHz, mono, 16 bits, by libswresample with the ffmpeg program's settings. The
/// samples are those of `ffmpeg -lfe_mix_level 1 -ac 1 -ar 16000 -f s16le` (channel_mix.h lists which channels). Audio
/// that has this format already passes through untouched, and libswresample is not even loaded. A format that changes
/// in mid-file starts a new conversion. What the old one's filter still holds, some milliseconds, is dropped, as by
/// ffmpeg.
class Resampler {
 public:
  /// `loudness`, which must outlive this, gets to see all channels.
  explicit Resampler(TakePcm take, AudioChoice choice = {}, ChannelLoudness* loudness = nullptr);
  ~Resampler();
  Resampler(const Resampler&) = delete;
  Resampler& operator=(const Resampler&) = delete;

  Result<void> push(const AudioBlock& block);
  /// Silence in the format of `like`, `frames` of it.
  Result<void> push_silence(const AudioBlock& like, std::int64_t frames);
  /// Delivers what the filter still holds. More may follow, as another recording.
  Result<void> finish();

 private:
  struct Conversion;
  Result<void> start(const AudioBlock& block);
  Result<void> convert(const std::uint8_t* const* planes, int frames);
  Result<void> rescue_short_audio();

  TakePcm take_;
  AudioChoice choice_;
  ChannelLoudness* loudness_;
  std::unique_ptr<Conversion> conversion_;
  std::vector<std::int16_t> pcm_;
};

}  // namespace tutti
