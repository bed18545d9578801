#include "hub/memory_plan.h"

#include <algorithm>

namespace tutti {

std::optional<NumberSizes> number_sizes(std::string_view compute_type) {
  if (compute_type == "float32" || compute_type == "tf32") return NumberSizes{};
  if (compute_type == "float16" || compute_type == "bfloat16") return NumberSizes{2, 2, 2, 2, 2};
  if (compute_type == "int8") return NumberSizes{1, 2, 2, 2, 2};
  if (compute_type == "int8_float16") return NumberSizes{1, 2, 2, kByteCross, 2};
  return {};
}

NumberSizes on_gpu(NumberSizes sizes) {
  // The step's float32 and its product before, the allowed ones and their log-probabilities; of a sample that draws its
  // token its row and weights once more, and in float64 the weights and their sums (decode/device_token_selector.cpp).
  constexpr std::int64_t kStep = 4 + 4, kRules = 4 + 4, kDrawn = 4 + 4 + 8 + 8;
  sizes.logit = kStep + kRules + kDrawn;
  sizes.spare = 1;
  sizes.rows = 2 * kPromptRows;  // a step is rounded up by less than so many (bucket_for)
  sizes.batch = sizes.other;
  sizes.mel = 0;
  return sizes;
}

std::string type_on(const std::string& requested, bool on_cpu) {
  if (requested == "default") return on_cpu ? "float32" : "float16";
  if (requested == "auto") return on_cpu ? "bfloat16" : "float16";  // what the fastest ones take at most
  if (on_cpu && (requested == "float16" || requested == "tf32")) return "float32";
  if (on_cpu && requested == "int8_float16") return "int8";
  if (!on_cpu && requested == "int8") return "int8_float16";
  return requested;
}

Bytes MemoryPlan::total(std::int64_t windows, std::int64_t beams) const {
  return {weights.value + workspace.value + windows * (window.value + beams * sequence.value)};
}

Bytes MemoryPlan::in_work(std::int32_t slots, std::int64_t beams, std::int64_t fillers) const {
  const std::int64_t ahead = windows_in_flight(slots) - slots;
  return {total(slots, beams).value + ahead * window.value + fillers * sequence.value + mel_buffers(slots) * mel.value};
}

MemoryPlan memory_plan(const ModelShape& shape, const NumberSizes& sizes, std::int64_t text_positions) {
  const auto n = shape.state;
  const auto square = n * n;
  // Attention is four squares, twice in a decoder layer; a feed-forward part is four times as wide, there and back.
  // Five of the decoder's sixteen make queries, keys and values of tokens and keys and values of windows.
  const auto wide = shape.audio_layers * 12 * square + shape.text_layers * 5 * square;
  const auto narrow = shape.text_layers * 11 * square + shape.vocabulary * n;
  const auto convolutions = 3 * n * (shape.n_mels + n);
  // The vocabulary is a table to read from, too, and that is never in eight bits.
  const bool own_table = sizes.weight < sizes.other;
  const auto tables = (shape.audio_positions + shape.text_positions + (own_table ? shape.vocabulary : 0)) * n;
  constexpr std::int64_t kWide = 4;    // activations are float32 on the way
  constexpr std::int64_t kCopies = 2;  // a layer's input and its output
  constexpr std::int64_t kWidest = 8;  // states side by side: queries, keys, values and the feed-forward part
  const auto layer_state = 2 * n;      // keys and values
  const auto positions = text_positions > 0 ? std::min(text_positions, shape.text_positions) : shape.text_positions;
  const auto slot = shape.text_layers * layer_state * positions * sizes.self;
  // A row of a step (model/decoder_step/step_buffers.h): its states, twice those of the feed-forward part, queries,
  // keys and values; the same part as two rows of int8 and of int32 sums; its logits in two types.
  constexpr std::int64_t kRowStates = 1 + 4 + 4 + 3 + 1, kIntegers = 2 * 4 * (1 + 4);
  const auto row = (kRowStates * sizes.wide + kIntegers) * n + (4 + sizes.wide) * shape.vocabulary;
  return {.weights = {wide * sizes.wide + narrow * sizes.weight + (convolutions + tables) * sizes.other},
          .window = {static_cast<std::int64_t>(
              static_cast<double>(shape.text_layers * layer_state * shape.audio_positions) * sizes.cross)},
          .sequence = {slot + sizes.logit * shape.vocabulary},
          .workspace = {kCopies * kWide * kWidest * shape.audio_positions * n + sizes.spare * slot + sizes.rows * row},
          .encoding = {kCopies * sizes.batch * kWidest * shape.audio_positions * n},
          .mel = {sizes.mel * shape.n_mels * 2 * shape.audio_positions}};
}

std::int64_t windows_that_fit(const MemoryPlan& plan, Bytes available, std::int64_t beams) {
  const auto left = available.value - plan.weights.value - plan.workspace.value;
  return std::max<std::int64_t>(0, left / (plan.window.value + beams * plan.sequence.value));
}

std::int32_t encoded_together(const MemoryPlan& plan, Bytes available, std::int32_t slots, std::int64_t beams) {
  if (plan.encoding.value == 0) return 1;
  const Bytes left{available.value - plan.in_work(slots, beams).value};
  std::int32_t windows = kEncodedTogether;
  while (windows > 1 && plan.more_encoded(windows) > left) windows /= 2;
  return windows;
}

int windows_in_flight(int slots) {
  constexpr int kMany = 64;
  // A GPU with memory for more slots has some left for windows that are encoded while all of them step.
  if (slots > kMany) return slots + std::min((slots - kMany + 7) / 8, 8);
  return slots + std::clamp(kMany - slots, 0, std::clamp(slots / 4, 2, 4));
}

std::int32_t mel_buffers(std::int32_t slots) {
  return std::min(windows_in_flight(slots), kMostMelBuffers);
}

std::int32_t slots_that_fit(const MemoryPlan& plan, Bytes available, std::int64_t beams, std::int64_t fillers) {
  const Bytes beside_fillers{available.value - fillers * plan.sequence.value};
  const auto most = std::min<std::int64_t>(windows_that_fit(plan, beside_fillers, beams), kLargestBatch);
  auto slots = static_cast<std::int32_t>(most);
  while (slots > 0 && plan.in_work(slots, beams, fillers) > available) --slots;
  return slots;
}

}  // namespace tutti
