#pragma once

#include "train/whisper/network/parameters.h"

namespace tutti {

/// Points every head of a new encoder at one neighbour: of L layers with H heads, head 2p and 2p + 1 of layer l (from
/// 0) look 3 * 2^l * (p + 1) / (H / 2) positions of 20 ms ahead and back. A head that begins anywhere has to discover
/// first that speech is recognised by its neighbourhood; these begin as a dilated convolution does, and are free to
/// leave.
///
/// With positions that are sinusoids of frequencies w_i (parameters.h), a query of (sin w_i p, cos w_i p) and a key
/// turned by w_i d give the score sum_i cos(w_i (p + d - p')), which is greatest at p' = p + d. What is drawn for both
/// stays in a third of its size, so that content counts from the first step.
void look_nearby(WhisperParameters& parameters);

}  // namespace tutti
