#include "train/whisper/stored_shape.h"

#include "base/numbers.h"
#include "base/units.h"

namespace tutti {

std::string take_stored_shape(WhisperRecipe& recipe, const WhisperDims& dims) {
  const WhisperRecipe::Network plain;
  std::string unlike;
  const auto take = [&](const char* name, auto field, auto stored) {
    auto& requested = recipe.network.*field;
    // A setting with the default value was not requested.
    if (requested != stored && requested != plain.*field)
      unlike += (unlike.empty() ? "" : ", ") + std::string(name) + " " + number_text(requested) + " (it has " +
                number_text(stored) + ")";
    requested = stored;
  };
  take("width", &WhisperRecipe::Network::width, dims.n_audio_state);
  take("heads", &WhisperRecipe::Network::heads, dims.n_audio_head);
  take("encoder-layers", &WhisperRecipe::Network::encoder_layers, dims.n_audio_layer);
  take("decoder-layers", &WhisperRecipe::Network::decoder_layers, dims.n_text_layer);
  take("mels", &WhisperRecipe::Network::mels, dims.n_mels);
  take("window-seconds", &WhisperRecipe::Network::window_seconds, dims.n_audio_ctx / kPositionsPerSecond);
  take("text-context", &WhisperRecipe::Network::text_context, dims.n_text_ctx);
  return unlike;
}

}  // namespace tutti
