#pragma once

#include <cstdint>

#include "model/decoder_step/numbers.h"

namespace tutti {

// The arguments of the step's kernels: raw memory of the device, no tensors. Rows are one behind the other unless a
// stride (in numbers) is given; n is a multiple of eight. T is the type `activation`.

/// The keys and values that one row sees: [heads, positions, 64], or heads in eight bits (byte_layout.h).
struct KvRow {
  const void* keys = nullptr;
  const void* values = nullptr;
  std::int32_t length = 0;  // positions seen, at least one
};

/// Rows one behind the other that see the same keys and values, and as many of them: a search's beams, a prompt's
/// tokens. Attention reads these once for all rows.
struct SharedRows {
  std::int32_t first = 0;
  std::int32_t count = 0;  // at most kMostSharedRows
};

/// A search's usual beams.
inline constexpr std::int32_t kMostSharedRows = 5;

struct AttendJob {
  Number activation = Number::float32;
  Number cache = Number::float32;  // int8: heads in eight bits
  const void* q = nullptr;         // T [rows, heads * 64]
  std::int64_t q_stride = 0;
  void* out = nullptr;           // T [rows, heads * 64]
  const KvRow* table = nullptr;  // [rows]
  /// [rows], all of them once, then such as have none; null: each row reads by itself.
  const SharedRows* shared = nullptr;
  std::int32_t rows = 0;
  std::int32_t heads = 0;
  std::int32_t positions = 0;  // the capacity of keys and values
  std::int32_t splits = 1;     // units a row's head is divided into
  float* scratch = nullptr;    // [rows, heads, splits, kPartial], where there is more than one
};

/// keys[slots[r], :, positions[r]] = the second third of qkv's row r; values likewise the last third.
struct AppendJob {
  Number activation = Number::float32;  // type of qkv and of keys and values
  const void* qkv = nullptr;            // T [rows, 3 * heads * 64]
  void* keys = nullptr;                 // T [slots, heads, capacity, 64]
  void* values = nullptr;
  const std::int32_t* slots = nullptr;      // [rows]
  const std::int32_t* positions = nullptr;  // [rows]
  std::int32_t rows = 0;
  std::int32_t heads = 0;
  std::int32_t capacity = 0;
};

/// out[r] = table[tokens[r]] + positional[positions[r]].
struct EmbedJob {
  Number activation = Number::float32;
  const void* table = nullptr;       // T [vocab, n]
  const void* positional = nullptr;  // T [positions, n]
  const std::int32_t* tokens = nullptr;
  const std::int32_t* positions = nullptr;
  void* out = nullptr;  // T [rows, n]
  std::int32_t rows = 0;
  std::int32_t n = 0;
};

/// A number of sixteen bits is the sum of two int8 numbers, kHigh times the one and the other.
inline constexpr int kHigh = 128;

/// What a product of matrices left: T without its bias; or sums of int8 numbers, with what makes numbers of them.
struct Sums {
  const void* numbers = nullptr;      // T [rows, n]; or int32, of the high halves of rows
  const std::int32_t* low = nullptr;  // [rows, n], of their low halves; null: numbers are T
  const void* bias = nullptr;         // [n], T or (of int32 sums) float32; null for none
  const float* row_scales = nullptr;
  const float* column_scales = nullptr;
};

/// Where rows go: T, or two int8 halves with a scale per row.
struct RowsOut {
  void* numbers = nullptr;     // T [rows, n]; or int8, the high halves
  std::int8_t* low = nullptr;  // [rows, n]; null: numbers are T
  float* scales = nullptr;     // [rows]
};

/// x += add; out = layer_norm(x), epsilon 1e-5.
struct NormJob {
  Number activation = Number::float32;
  void* x = nullptr;  // T [rows, n]
  Sums add{};         // nothing is added where `numbers` is null
  const void* weight = nullptr;
  const void* bias = nullptr;
  RowsOut out{};
  std::int32_t rows = 0;
  std::int32_t n = 0;
};

/// out = sums, or gelu(sums) in its exact form.
struct FinishJob {
  Number activation = Number::float32;
  Sums sums{};
  bool gelu = false;
  RowsOut out{};
  std::int32_t rows = 0;
  std::int32_t n = 0;
};

/// How long each symbol of a voice's clips lasts, by the best monotonic path through its scores: every symbol gets a
/// frame at least, in order, and the scores on the path add up to the most. Of equally good paths the one that stays
/// longest with the later symbols is taken.
struct AlignJob {
  const float* scores = nullptr;                // [rows, frames, symbols]
  const std::int64_t* symbol_counts = nullptr;  // [rows]; at least 1
  const std::int64_t* frame_counts = nullptr;   // [rows]; at least as many as symbols
  std::int64_t* durations = nullptr;            // out: [rows, symbols], zeros behind a row's last symbol
  std::int32_t* moves = nullptr;                // [rows, move_words(frames), symbols], to work in
  std::int32_t rows = 0;
  std::int32_t frames = 0;
  std::int32_t symbols = 0;  // at most kMostAlignedSymbols
};

/// A bit for each frame of a symbol: whether the symbol before it ends there.
inline constexpr std::int32_t kWordBits = 32;
TUTTI_BOTH constexpr std::int64_t move_words(std::int32_t frames) {
  return (frames + kWordBits - 1) / kWordBits;
}

/// What fits the memory that a block shares on every GPU, 48 KiB.
inline constexpr std::int32_t kMostAlignedSymbols = 767;

/// A window's keys and values into heads of eight bits. The positions of a head are divided into parts.
struct PackJob {
  Number activation = Number::float32;
  const void* both = nullptr;   // T [positions, 2 * heads * 64]: keys and values side by side
  std::int8_t* keys = nullptr;  // [heads, byte_head_size(positions)]
  std::int8_t* values = nullptr;
  float* sums = nullptr;  // [2 * heads, pack_parts(positions), 64], to work in
  std::int32_t positions = 0;
  std::int32_t heads = 0;
};

/// Positions of a part, of which a block takes 32 (of float32 16) at a time. Large-v3 then has 480 parts, as many
/// blocks as 132 processors hold and a little more.
inline constexpr std::int32_t kPackPositions = 128;
TUTTI_BOTH constexpr std::int32_t pack_parts(std::int32_t positions) {
  return (positions + kPackPositions - 1) / kPackPositions;
}

/// What the selection of tokens looks for in the logits behind sequences' newest tokens
/// (decode/device_token_selector.h). Ids are those of text below timestamp_begin, of timestamps from there on.
struct SelectJob {
  enum Column : std::int32_t { kNewest, kMask, kTextFrom, kTimeFrom, kTimeTo, kWeighsTimes, kSot, kColumns };

  const float* logits = nullptr;         // [any, vocab]
  const std::int32_t* inputs = nullptr;  // [kColumns, rows]: which logits, which mask; the first text that is possible,
                                         // the first timestamp and the one behind the last; whether all timestamps
                                         // together exclude text that is less likely; the logits behind the start
                                         // of the transcript, or -1
  const std::int32_t* masks = nullptr;   // [any, vocab]: other than 0 where an id is forbidden
  /// Out, [3 + 2 * likeliest, rows], with no_speech a line more: the log of the sum over all timestamps, -infinity
  /// where none is possible; the likeliest timestamp's logit; the likeliest text's; the log-probabilities of the
  /// likeliest tokens, of equals the first; their ids; the probability of no_speech in the logits of kSot, 0 where
  /// there are none.
  double* found = nullptr;
  std::int32_t rows = 0;
  std::int32_t vocab = 0;
  std::int32_t timestamp_begin = 0;
  std::int32_t likeliest = 0;
  std::int32_t no_speech = -1;  // its id, where its probability is wanted
};

}  // namespace tutti
