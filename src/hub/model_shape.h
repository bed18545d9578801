#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace tutti {

/// What decides how much memory a Whisper model takes. Encoder and decoder are equally wide.
struct ModelShape {
  std::int64_t n_mels = 80;
  std::int64_t audio_positions = 1500;  // positions of the encoder, in a window
  std::int64_t text_positions = 448;    // tokens of prompt and text together
  std::int64_t vocabulary = 0;
  std::int64_t state = 0;  // width of the network
  std::int64_t audio_layers = 0;
  std::int64_t text_layers = 0;

  bool operator==(const ModelShape&) const = default;
};

/// The shape of a model on disk without reading its weights: from a Hugging Face config.json or the head of a
/// whisper.cpp file, else by OpenAI's or Distil-Whisper's name in its own or its repository's (tiny.en.pt,
/// faster-whisper-large-v3, models--Systran--faster-whisper-tiny/snapshots/COMMIT). Nothing where neither gives it.
std::optional<ModelShape> model_shape(const std::filesystem::path& model);

/// Whether a model is of keyed sound, so that windows are to follow keying instead of speech: its config.json has
/// "tutti_vad_method": "keying". False for whatever has no such file.
bool is_keyed(const std::filesystem::path& model);

/// Whether a model was trained on the keyed tone alone (audio/tone_filter.h), and is to get nothing else: its
/// config.json has "tutti_audio_filter": "keyed_tone". False for whatever has no such file.
bool takes_keyed_tone(const std::filesystem::path& model);

}  // namespace tutti
