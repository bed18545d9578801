#pragma once

#include <cstddef>
#include <cstdint>

#include "base/instruction_sets.h"

// What one thread does in a matrix product y = x weight^T, as plain jobs over raw memory. Every precision goes the same
// way, four bytes at a time: a *group* is one float32, two bfloat16 or int16, or four int8 of consecutive inputs. Rows
// of x are prepared (rounded, or scaled to whole numbers); sixteen outputs of the weights lie side by side in a
// *panel*, [groups][16][4 bytes], which is what AVX-512, VNNI, AVX512-BF16 and AMX tiles all read without moving
// anything.
namespace tutti {

/// What products are computed in. int8 and int16 stand for weights scaled per output and rows of x scaled each by
/// itself.
enum class WeightPrecision : std::uint8_t { float32, bfloat16, int8, int16 };

constexpr bool is_scaled(WeightPrecision precision) {
  return precision == WeightPrecision::int8 || precision == WeightPrecision::int16;
}

constexpr std::int64_t kPanel = 16;  // outputs side by side

// Bounds for int16: the largest stored weight, and the root of the mean square of an output's. Rows take as many bits
// as that leaves of 32 (prepare_kernel.h): for most outputs, whose weights have their largest at four times the root,
// both bounds are the same.
constexpr float kMostWord = 4095;
constexpr float kWordRoot = 1024;

/// x is about scale * (stored - zero), stored as 0 ... 255; of int16 zero is 0.
struct RowScale {
  float scale = 1;
  std::int32_t zero = 0;
};

/// Rows of float32, layer-normalised if `norm_weight` is given (epsilon 1e-5), made ready for a product.
struct RowsJob {
  const float* x = nullptr;  // [rows, in]
  std::int64_t stride = 0;   // floats from row to row
  std::int64_t rows = 0;
  std::int64_t in = 0;
  const float* norm_weight = nullptr;  // [in]
  const float* norm_bias = nullptr;    // [in]
  /// int8 alone: 2 stores every row in sixteen bits, as two rows whose products add up. Rows of `out` and `scales` then
  /// come in pairs. VNNI and tiles take the sum of two numbers, the second what rounding left of the first; AVX2 and
  /// AVX-512 take words_by_bytes_avx2.h's.
  std::int64_t parts = 1;
  float* scratch = nullptr;     // [in]
  std::byte* out = nullptr;     // [rows * parts, groups * 4 bytes]; what is behind `in` becomes 0
  std::int64_t out_stride = 0;  // bytes
  std::int64_t groups = 0;
  RowScale* scales = nullptr;  // [rows * parts], written for int8 and int16
};

/// sums = rows times panels: float32, or int32 for int8 and int16. `rows` may be exceeded up to a multiple of
/// kRowsTogether, in reading and in writing.
struct TileJob {
  const std::byte* rows_data = nullptr;
  std::int64_t row_stride = 0;  // bytes
  const std::byte* panels_data = nullptr;
  std::int64_t panel_stride = 0;  // bytes
  std::int64_t groups = 0;
  std::int64_t rows = 0;
  std::int64_t parts = 1;  // as prepared; rows are all of them
  std::int64_t panels = 0;
  void* sums = nullptr;         // [rows, panels * 16]
  std::int64_t sum_stride = 0;  // elements
};
constexpr std::int64_t kRowsTogether = 16;

/// y = gelu(scaled(sums) + bias) + addend, each if it is given.
struct TileFinishJob {
  const void* sums = nullptr;
  std::int64_t sum_stride = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t parts = 1;                     // int8 alone: so many rows of sums are added up
  const RowScale* row_scales = nullptr;       // int8 and int16
  const float* column_scales = nullptr;       // likewise; these two up to a multiple of 16
  const std::int32_t* column_sums = nullptr;  // likewise: of the weights, for the rows' zeros
  const float* bias = nullptr;                // up to a multiple of 16
  bool gelu = false;
  const float* addend = nullptr;  // [rows, columns]; may be y
  std::int64_t addend_stride = 0;
  float* y = nullptr;
  std::int64_t y_stride = 0;
};

/// weights = e^(scale * (score - largest)) in the product's precision, 0 where not visible; and what they have to be
/// divided by. Row r sees the first visible + r * visible_step scores.
struct SoftmaxJob {
  void* scores = nullptr;   // float32, or int32 for int16; they are lost
  std::int64_t stride = 0;  // elements
  std::int64_t rows = 0;
  std::int64_t columns = 0;  // columns of the weights, a multiple of 16
  std::int64_t visible = 0;
  std::int64_t visible_step = 0;
  float scale = 1;
  const RowScale* row_scales = nullptr;  // int16: of the queries
  std::byte* weights = nullptr;          // [rows, columns]
  std::int64_t weights_stride = 0;       // bytes
  float* totals = nullptr;               // [rows]
};

/// Rows that are one side of an attention's product, packed as weights are, in the product's precision. What is behind
/// the rows, up to whole panels or groups, becomes 0.
struct PanelsJob {
  const void* rows = nullptr;  // [count, width]
  bool bfloat16 = false;       // what the rows are; else float32
  std::int64_t stride = 0;     // elements
  std::int64_t count = 0;
  std::int64_t width = 0;
  std::byte* panels = nullptr;
  std::int64_t groups = 0;
};

/// Up to sixteen outputs of a layer on their way into a panel. Each output is scaled by its largest weight: int8 to
/// [-127, 127], int16 within kMostWord and kWordRoot.
struct WeightsJob {
  float* weights = nullptr;  // [count, in]; they are lost
  std::int64_t count = 0;
  std::int64_t in = 0;
  std::byte* panel = nullptr;  // [groups][16][4 bytes]; what is behind `count` and `in` becomes 0
  std::int64_t groups = 0;
  float* scales = nullptr;       // int8 and int16: [count], what a stored 1 is worth
  std::int32_t* sums = nullptr;  // int8: [count], of the stored weights
};

struct Kernels {
  void (*pack_weights)(const WeightsJob&) = nullptr;
  void (*prepare)(const RowsJob&) = nullptr;
  void (*multiply)(const TileJob&) = nullptr;
  void (*finish)(const TileFinishJob&) = nullptr;
  // For an attention, and none for int8. Packing returns what a stored 1 is worth.
  void (*soften)(const SoftmaxJob&) = nullptr;
  float (*pack_outputs)(const PanelsJob&) = nullptr;  // rows are outputs, their elements inputs: keys
  float (*pack_inputs)(const PanelsJob&) = nullptr;   // rows are inputs, their elements outputs: values
  // Before a thread's first `multiply`, and after its last.
  void (*enter)() = nullptr;
  void (*leave)() = nullptr;
};

/// The best kernels for `precision` with these instructions, which the processor must have, AVX2 among them.
Kernels kernels(WeightPrecision precision, const InstructionSets& instructions);

/// The same with those that kernels may use here.
Kernels kernels(WeightPrecision precision);

/// Whether products of bfloat16 are an instruction that kernels may use: elsewhere they are slower than those of
/// float32 and int16.
bool multiplies_bfloat16();

// Of one set each, which the function is compiled to: none may be called where the processor lacks it.
Kernels float32_kernels_avx2();
Kernels float32_kernels_avx512();
Kernels bfloat16_kernels_avx2();
Kernels bfloat16_kernels_avx512();
Kernels bfloat16_kernels_bf16();
Kernels bfloat16_kernels_amx();
Kernels int8_kernels_avx2();
Kernels int8_kernels_avxvnni();
Kernels int8_kernels_avx512();
Kernels int8_kernels_vnni();
Kernels int8_kernels_amx();
Kernels int16_kernels_avx2();
Kernels int16_kernels_avxvnni();
Kernels int16_kernels_avx512();
Kernels int16_kernels_vnni();

}  // namespace tutti
