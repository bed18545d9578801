#include "model/cpu/row/long_row_kernel.h"

namespace tutti {

LongRowKernels long_row_kernels_avx2() {
  return {find_maxima, add_exponentials};
}

}  // namespace tutti
