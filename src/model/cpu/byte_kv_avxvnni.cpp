#include "model/cpu/byte_kv_words_avx2.h"

namespace tutti {

// Packing multiplies nothing.
ByteKvKernels byte_kv_kernels_avxvnni() {
  auto kernels = byte_kv_kernels_avx2();
  kernels.attend = attend;
  return kernels;
}

}  // namespace tutti
