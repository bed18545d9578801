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

NumberSizes sizes_on(at::Device device, ComputeType type) {
  auto sizes = number_sizes(type.name()).value_or(NumberSizes{});
  if (layout_of(type, device).byte_cross) sizes.cross = kByteCross;
  return device.is_cuda() ? on_gpu(sizes) : sizes;
}

StepBytes step_bytes(const WhisperDims& dims, at::Device device, ComputeType type) {
  const auto sizes = sizes_on(device, type);
  const double n = dims.n_text_state, layers = dims.n_text_layer;
  const double wide = layers * 3 * n * n;  // queries, keys and values of tokens
  const double narrow = layers * 11 * n * n;
  // As weights.cpp has it: own kernels look for the likeliest tokens in eight bits, in bfloat16 too; torch shares the
  // embedding, which is not in eight bits.
  const bool in_eight_bits = layout_of(type, device).own_kernels && !type.keeps_float32();
  const double output = in_eight_bits ? 1 : static_cast<double>(sizes.other);
  return {.weights = wide * static_cast<double>(sizes.wide) + narrow * static_cast<double>(sizes.weight) +
                     dims.n_vocab * n * output,
          .window = work_of(dims).sequence_numbers * sizes.cross,
          .token = 2 * layers * n * static_cast<double>(sizes.self)};
}

}  // namespace tutti
