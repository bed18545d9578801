#include "model/work.h"

namespace tutti {

WhisperWork work_of(const WhisperDims& dims) {
  const double d = dims.n_audio_state, n = dims.n_audio_ctx;
  const double text = dims.n_text_state;
  const double convolutions = 2 * 3 * (2 * n * d * dims.n_mels + n * d * d);
  const double encoder = dims.n_audio_layer * (24 * n * d * d + 4 * n * n * d);
  const double cross = dims.n_text_layer * 4 * n * text * d;
  return {.window_flops = convolutions + encoder + cross,
          .token_weights = dims.n_text_layer * 14 * text * text + dims.n_vocab * text,
          .sequence_numbers = dims.n_text_layer * 2 * n * text};
}

}  // namespace tutti
