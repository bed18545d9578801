#include "model/decoder_step/step_buffers.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "model/decoder_step/attend.h"
#include "model/decoder_step/step_inputs.h"

namespace tutti {

std::int64_t whole_rows(std::int64_t rows) {
  return std::max<std::int64_t>(2 * rows, 24);
}

std::int32_t splits_of(std::int64_t rows, std::int64_t heads, std::int32_t processors, std::int32_t together) {
  constexpr std::int64_t kBlocks = 6;  // blocks of a processor: twice what it holds at once
  constexpr std::int64_t kMost = 12;   // a split of 1,500 positions then has 125: what a block loads at once
  const auto units = (rows + together - 1) / together * heads, wanted = kBlocks * processors;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>((wanted + units / 2) / units, 1, kMost));
}

StepBuffers make_step_buffers(const WhisperDims& dims, std::int64_t rows, const at::TensorOptions& activations,
                              std::int32_t processors) {
  const std::int64_t n = dims.n_text_state, widest = 4 * n, vocab = dims.n_vocab;
  const auto flat = [&](std::int64_t count) { return at::empty({count}, activations); };
  const auto of_type = [&](at::IntArrayRef sizes, at::ScalarType type) {
    return at::zeros(sizes, activations.dtype(type));
  };
  StepBuffers buffers{.logits = of_type({rows, vocab}, at::kFloat),
                      .x = at::empty({rows, n}, activations),
                      .input = flat(rows * widest),
                      .sums = flat(rows * widest),
                      .qkv = flat(rows * 3 * n),
                      .cross_query = flat(rows * n),
                      .whole_input = of_type({whole_rows(rows) * widest}, at::kChar),
                      .whole_sums = of_type({whole_rows(rows) * widest}, at::kInt),
                      .row_scales = of_type({rows}, at::kFloat),
                      .raw_logits = flat(rows * vocab)};
  std::int64_t partials = 1;
  for (std::int64_t of = 1; of <= rows; ++of) {
    const auto splits = splits_of(of, dims.n_text_head, processors, kMostSharedRows);
    if (splits > 1) partials = std::max(partials, of * dims.n_text_head * splits * kPartial);
  }
  buffers.partials = of_type({partials}, at::kFloat);
  const StepInputs inputs{static_cast<std::int32_t>(rows), dims.n_text_layer};
  buffers.inputs = of_type({inputs.size()}, at::kByte);
  buffers.host = at::zeros({inputs.size()}, at::TensorOptions(at::kByte).pinned_memory(activations.device().is_cuda()));
  return buffers;
}

}  // namespace tutti
