#include "model/one_row_attention.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>

#include "model/instructions.h"
#include "model/one_row_attention_job.h"

namespace tutti {
namespace {

constexpr std::int64_t kHeadSize = OneRowAttention<float>::kHeadSize;
// Keys worth waking another thread for: about 5 us.
constexpr std::int64_t kGrain = 1000;

/// Every head of every row, as jobs over raw memory. T is what the kernels take for Element.
template <class T, class Element>
std::vector<OneRowAttention<T>> jobs_of(const std::vector<RowAttention>& rows, const float* q, float* out,
                                        std::int64_t n) {
  std::vector<OneRowAttention<T>> jobs;
  const auto at = [](const at::Tensor& tensor, std::int64_t head) {
    return reinterpret_cast<const T*>(tensor.const_data_ptr<Element>()) + head * tensor.stride(0);
  };
  for (const auto& row : rows) {
    for (std::int64_t head = 0; head < n / kHeadSize; ++head) {
      const auto offset = row.row * n + head * kHeadSize;
      jobs.push_back({q + offset, at(row.keys, head), at(row.values, head), out + offset, row.length,
                      1 / std::sqrt(static_cast<float>(kHeadSize))});
    }
  }
  return jobs;
}

template <class T>
void run(const std::vector<OneRowAttention<T>>& jobs) {
  std::int64_t longest = 1;
  for (const auto& job : jobs) longest = std::max(longest, job.length);
  const auto grain = std::max<std::int64_t>(1, kGrain / longest);
  at::parallel_for(0, static_cast<std::int64_t>(jobs.size()), grain, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> scratch(static_cast<std::size_t>(OneRowAttention<T>::scratch_size(longest)));
    for (auto i = first; i < last; ++i) {
      const auto& job = jobs[static_cast<std::size_t>(i)];
      has_avx512() ? attend_avx512(job, scratch.data()) : attend_avx2(job, scratch.data());
    }
  });
}

}  // namespace

bool is_row_attention(const at::Tensor& q, const at::Tensor& keys) {
  const auto type = q.scalar_type();
  return q.is_cpu() && (type == at::kFloat || type == at::kBFloat16) && keys.scalar_type() == type &&
         keys.size(-1) == kHeadSize && keys.stride(-1) == 1 && keys.stride(-2) == kHeadSize && has_avx2();
}

void attend_rows(const at::Tensor& q, const std::vector<RowAttention>& rows, at::Tensor& out) {
  if (q.scalar_type() == at::kFloat) {
    run(jobs_of<float, float>(rows, q.const_data_ptr<float>(), out.mutable_data_ptr<float>(), q.size(1)));
    return;
  }
  const auto wide = q.to(at::kFloat);
  auto answer = at::empty_like(wide);
  run(jobs_of<std::uint16_t, at::BFloat16>(rows, wide.const_data_ptr<float>(), answer.mutable_data_ptr<float>(),
                                           q.size(1)));
  for (const auto& row : rows) out.select(0, row.row).copy_(answer.select(0, row.row));
}

}  // namespace tutti
