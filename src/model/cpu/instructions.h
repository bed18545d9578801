#pragma once

namespace tutti {

/// What the kernels of this folder are compiled for, each set holding the ones before it. Files named *_<set>.cpp are
/// compiled to it; without AVX2 (2013) every operator is torch's.
enum class Instructions {
  none,
  avx2,    // with FMA
  avx512,  // F, BW, VL, DQ
  dot512,  // and products of int8 and bfloat16: AVX512-VNNI, AVX512-BF16
  amx,     // and those of whole tiles: AMX-INT8, AMX-BF16
};

/// The best set that this processor has and this system lets us use; found out once.
Instructions best_instructions();

bool has_avx2();

/// Whether products of bfloat16 are an instruction here: elsewhere they are slower than float32's.
bool multiplies_bfloat16();

}  // namespace tutti
