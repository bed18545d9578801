#include "model/few_rows_job.h"
#include "model/few_rows_kernel.h"

namespace tutti {

void multiply_avx512(const FewRows<float>& job, std::int64_t first, std::int64_t last) {
  multiply_few_rows(job, first, last);
}

void multiply_avx512(const FewRows<std::uint16_t>& job, std::int64_t first, std::int64_t last) {
  multiply_few_rows(job, first, last);
}

}  // namespace tutti
