#include "model/cpu/one_row_attention.h"

#include <ATen/ATen.h>

#include <cmath>

#include "base/instruction_sets.h"
#include "model/cpu/one_row_attention_job.h"
#include "model/cpu/parallel.h"

namespace tutti {
namespace {

constexpr std::int64_t kHeadSize = OneRowAttention<float>::kHeadSize;
// Keys worth waking another thread for: about 5 us.
constexpr std::int64_t kGrain = 1000;

/// Every head of every row, as jobs over raw memory. T is what the kernels take for Element.
template <class T, class Element>
std::vector<OneRowAttention<T>> jobs_of(const std::vector<RowAttention>& rows, const at::Tensor& q, at::Tensor& out) {
  std::vector<OneRowAttention<T>> jobs;
  const auto n = q.size(1);
  const auto at = [](const at::Tensor& tensor, std::int64_t head) {
    return reinterpret_cast<const T*>(tensor.const_data_ptr<Element>()) + head * tensor.stride(0);
  };
  for (const auto& row : rows) {
    for (std::int64_t head = 0; head < n / kHeadSize; ++head) {
      jobs.push_back({q.const_data_ptr<float>() + row.row * q.stride(0) + head * kHeadSize, at(row.keys, head),
                      at(row.values, head), out.mutable_data_ptr<float>() + row.row * n + head * kHeadSize, row.length,
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
  const auto count = static_cast<std::int64_t>(jobs.size());
  for_each_unit((count + grain - 1) / grain,
                [&] { return std::vector<float>(static_cast<std::size_t>(OneRowAttention<T>::scratch_size(longest))); },
                [&](std::vector<float>& scratch, std::int64_t unit) {
                  for (auto i = unit * grain; i < std::min(count, (unit + 1) * grain); ++i) {
                    attend_by(usable_instructions(), jobs[static_cast<std::size_t>(i)], scratch.data());
                  }
                });
}

}  // namespace

bool is_row_attention(const at::Tensor& q, const at::Tensor& keys) {
  const auto type = keys.scalar_type();
  return q.is_cpu() && q.scalar_type() == at::kFloat && (type == at::kFloat || type == at::kBFloat16) &&
         keys.size(-1) == kHeadSize && keys.stride(-1) == 1 && keys.stride(-2) == kHeadSize &&
         usable_instructions().has(Instructions::avx2);
}

void attend_rows(const at::Tensor& q, const std::vector<RowAttention>& rows, at::Tensor& out) {
  if (rows.empty()) return;
  if (rows.front().keys.scalar_type() == at::kFloat) return run(jobs_of<float, float>(rows, q, out));
  run(jobs_of<std::uint16_t, at::BFloat16>(rows, q, out));
}

}  // namespace tutti
