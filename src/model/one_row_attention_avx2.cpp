#include "model/one_row_attention_job.h"
#include "model/one_row_attention_kernel.h"

namespace tutti {

void attend_avx2(const OneRowAttention<float>& job, float* scratch) {
  attend(job, scratch);
}

void attend_avx2(const OneRowAttention<std::uint16_t>& job, float* scratch) {
  attend(job, scratch);
}

}  // namespace tutti
