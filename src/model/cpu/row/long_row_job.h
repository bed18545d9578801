#pragma once

#include <cstddef>

namespace tutti {

// Sums and maxima of this many columns side by side: loops short enough for the cache, too long to be unrolled, which
// is what the compiler turns into vector code.
inline constexpr std::size_t kRowColumns = 256;

struct LongRowKernels {
  /// columns[c]: the largest of row[c], row[c + kRowColumns], row[c + 2 kRowColumns], ...
  void (*find_maxima)(const float* row, std::size_t size, float* columns) = nullptr;
  double (*add_exponentials)(const float* row, std::size_t size, float largest, float scale) = nullptr;
};

LongRowKernels long_row_kernels_plain();
LongRowKernels long_row_kernels_avx2();
LongRowKernels long_row_kernels_avx512();

}  // namespace tutti
