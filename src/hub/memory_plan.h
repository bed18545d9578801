#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"
#include "hub/model_shape.h"

namespace tutti {

// Windows that a worker steps together where their number is not set and memory allows. Measured on CPUs: up to eight
// sequences, each costs little more than a share of one. GPUs take more.
inline constexpr std::int32_t kUsualCpuSlots = 8;
inline constexpr std::int32_t kUsualGpuSlots = 32;

/// Windows that a GPU encodes together at most, where memory is left for them.
inline constexpr std::int32_t kEncodedTogether = 8;

/// Windows' log-mels that a worker makes ready for its encoder at most (worker/mel_ring.h). Memory of the host, which a
/// GPU copies from: 1.5 MB a window of large-v3 in float32, half of it in sixteen bits.
inline constexpr std::int32_t kMostMelBuffers = 64;

/// Rows that a GPU's recorded step has for the tokens of short prompts, beside one for each slot
/// (model/decoder_step/static_step.h).
inline constexpr std::int32_t kPromptRows = 32;

/// Windows stepped together at most, whatever is requested: more than any device holds.
inline constexpr std::int32_t kLargestBatch = 1024;

/// Rows of a decoder step under --deterministic. Steps are groups of so many, and an incomplete group is filled up with
/// sequences that are never read, kept in as many slots of their own.
inline constexpr std::int32_t kFixedRows = 8;

/// The share of the memory that is free beside the weights, where the number of windows is not set; the rest is for
/// what torch keeps on the way.
inline constexpr double kUsableShare = 0.9;

/// Bytes of one number of each kind, and what else of the arithmetic is not the model's shape.
struct NumberSizes {
  std::int64_t weight = 4;  // weights of the linear layers that a decoder step reads
  std::int64_t wide = 4;    // weights of the encoder's, and queries, keys and values in the decoder
  std::int64_t other = 4;   // embeddings, norms, convolutions
  double cross = 4;         // cross-attention keys and values, once a window
  std::int64_t self = 4;    // self-attention keys and values, once a token and sequence
  std::int64_t logit = 8;   // all that a step holds of a sequence's logits: float32, and a copy
  std::int64_t spare = 0;   // sequences' keys and values that fit beside those that step
  std::int64_t rows = 0;    // rows of a step, beside those of sequences: prompts', and what fills up the step
  std::int64_t batch = 0;   // activations in an encoding of several windows; 0: they are encoded one at a time
  std::int64_t mel = 4;     // log-mels that wait for the encoder; 0: that is not the device's memory
};

/// The bytes of a number in a window's keys and values in eight bits, with a float32 of scale for every 64 of them.
inline constexpr double kByteCross = 1 + 4.0 / 64;

/// The names that --compute-type takes.
inline constexpr std::array<std::string_view, 8> kComputeTypes{"default",  "auto",    "float32", "tf32",
                                                               "bfloat16", "float16", "int8",    "int8_float16"};

/// The sizes of a compute type as --compute-type names it; nothing for one that is unknown. "auto" is unknown. int8 on
/// a CPU with AVX2 keeps windows in kByteCross, as int8_float16 always does.
std::optional<NumberSizes> number_sizes(std::string_view compute_type);

/// The same on a GPU: tokens are selected there (decode/device_token_selector.h), which holds more of the logits, and
/// rows that fill up a step append to a slot of their own (model/decoder_step/step_inputs.h).
NumberSizes on_gpu(NumberSizes sizes);

/// The compute type a device takes for the requested one (docs/compute-types.md); "default" is the reference's, and for
/// "auto", which a self-test chooses, the largest of the fast ones.
std::string type_on(const std::string& requested, bool on_cpu);

/// What a model takes on its device.
struct MemoryPlan {
  Bytes weights{};
  Bytes window{};     // keys and values of one window's cross-attention
  Bytes sequence{};   // keys and values of one sequence at full length, and its logits
  Bytes workspace{};  // what one encoding holds on the way, slots and rows of no sequence
  Bytes encoding{};   // what each window more in the encoding holds; 0: one is encoded at a time
  Bytes mel{};        // a window's log-mel as it waits for the encoder; 0: in other memory

  /// With so many windows held, each with so many beams.
  Bytes total(std::int64_t windows, std::int64_t beams) const;
  /// What a worker holds that steps `slots` windows together, of so many beams each, and `fillers` sequences beside:
  /// those that are encoded ahead of them (windows_in_flight) have no sequences yet. With the log-mels that wait.
  Bytes in_work(std::int32_t slots, std::int64_t beams, std::int64_t fillers = 0) const;
  /// What encodings of so many windows take beside that.
  Bytes more_encoded(std::int32_t windows) const { return {(windows - 1) * encoding.value}; }
};

/// What a GPU's driver keeps for a process that computes there (its context, with the code of its kernels), beside all
/// of the plan. What the driver keeps for itself is in what it reports as used.
inline constexpr Bytes kDriverMemory{512LL << 20};

/// Pure arithmetic over the shape. What a driver keeps for itself is not in it (kDriverMemory). text_positions: tokens
/// that a slot holds, as LoadModel's (link/messages.h); 0: all that the model has.
MemoryPlan memory_plan(const ModelShape& shape, const NumberSizes& sizes, std::int64_t text_positions = 0);

/// Most windows with so many beams each that fit into `available` beside the weights; 0 where not even one does.
std::int64_t windows_that_fit(const MemoryPlan& plan, Bytes available, std::int64_t beams);

/// Windows that a worker of so many slots encodes together: as many of kEncodedTogether, halved and halved again, as
/// fit into `available` beside its in_work(); at least one.
std::int32_t encoded_together(const MemoryPlan& plan, Bytes available, std::int32_t slots, std::int64_t beams);

/// Windows a worker that steps `slots` together is given at once: those, and a few that are encoded when one of them
/// leaves. Few, because an encoded window holds its keys and values; none from 64 on, where it would save a fiftieth
/// (docs/cuda.md).
int windows_in_flight(int slots);

/// Windows whose log-mels are made ready before they are encoded, by a worker that steps `slots` together: all that it
/// is given, up to kMostMelBuffers.
std::int32_t mel_buffers(std::int32_t slots);

/// The most windows that can step together in `available`, those encoded ahead beside them: the most whose in_work() is
/// no more. 0 where not even one fits.
std::int32_t slots_that_fit(const MemoryPlan& plan, Bytes available, std::int64_t beams, std::int64_t fillers = 0);

}  // namespace tutti
