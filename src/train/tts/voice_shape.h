#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace tutti {

/// The dimensions of a network that speaks: a text encoder, which also predicts how long each symbol lasts, and a
/// decoder that makes a spectrogram out of noise along the encoder's.
struct VoiceShape {
  std::int64_t symbols = 0;  ///< that texts are made of
  std::int64_t speakers = 1;
  std::int64_t mels = 80;
  std::int64_t width = 192;  ///< width of the encoder
  std::int64_t layers = 4;
  std::int64_t heads = 2;
  std::int64_t inner = 512;  ///< width of the encoder's convolutional feed-forward layers
  std::int64_t duration_width = 192;
  std::int64_t decoder_width = 192;
  std::int64_t decoder_layers = 6;
  std::int64_t decoder_inner = 576;
  std::int64_t positions = 6;  ///< numbers of where a frame is within its symbol; 0: voices from before they were
};

/// A size by name: nano (5.2 M parameters), or note 002's tiny, small, normal or big with the dimensions of their
/// text encoder and decoder. Fault::usage names those there are.
Result<VoiceShape> voice_shape(const std::string& size);

/// As config.json keeps it, and back; Fault::corrupt names what is missing.
std::string show_voice_shape(const VoiceShape& shape);
Result<VoiceShape> read_voice_shape(const std::string& json);

}  // namespace tutti
