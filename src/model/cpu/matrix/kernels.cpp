#include "model/cpu/matrix/kernels.h"

#include <span>

namespace tutti {
namespace {

using enum Instructions;

struct Table {
  Instructions needs;
  Kernels (*kernels)();
};

// Best first. Tables of int16 have no tiles, float32 nothing newer than AVX-512.
constexpr Table kFloat32[] = {{avx512, float32_kernels_avx512}, {avx2, float32_kernels_avx2}};
constexpr Table kBfloat16[] = {{amx, bfloat16_kernels_amx},
                               {bf16, bfloat16_kernels_bf16},
                               {avx512, bfloat16_kernels_avx512},
                               {avx2, bfloat16_kernels_avx2}};
constexpr Table kInt8[] = {{amx, int8_kernels_amx},
                           {vnni, int8_kernels_vnni},
                           {avxvnni, int8_kernels_avxvnni},
                           {avx512, int8_kernels_avx512},
                           {avx2, int8_kernels_avx2}};
constexpr Table kInt16[] = {{vnni, int16_kernels_vnni},
                            {avxvnni, int16_kernels_avxvnni},
                            {avx512, int16_kernels_avx512},
                            {avx2, int16_kernels_avx2}};

std::span<const Table> tables_of(WeightPrecision precision) {
  switch (precision) {
    case WeightPrecision::float32: return kFloat32;
    case WeightPrecision::bfloat16: return kBfloat16;
    case WeightPrecision::int8: return kInt8;
    case WeightPrecision::int16: break;
  }
  return kInt16;
}

}  // namespace

Kernels kernels(WeightPrecision precision, const InstructionSets& instructions) {
  const auto tables = tables_of(precision);
  for (const auto& table : tables) {
    if (instructions.has(table.needs)) return table.kernels();
  }
  return tables.back().kernels();
}

Kernels kernels(WeightPrecision precision) {
  return kernels(precision, usable_instructions());
}

bool multiplies_bfloat16() {
  return usable_instructions().has(bf16);
}

}  // namespace tutti
