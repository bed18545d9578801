#include "model/few_rows.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

#include "model/few_rows_job.h"
#include "model/instructions.h"

namespace tutti {
namespace {

constexpr std::int64_t kMostRows = 16;
constexpr std::int64_t kLanes = 16;
// Multiplications worth waking another thread for: about 5 us.
constexpr std::int64_t kGrain = 200'000;

template <class T>
void run(const FewRows<T>& job) {
  const auto grain = std::max<std::int64_t>(kLanes, kGrain / (job.rows * job.in));
  at::parallel_for(0, job.out, grain, [&](std::int64_t first, std::int64_t last) {
    has_avx512() ? multiply_avx512(job, first, last) : multiply_avx2(job, first, last);
  });
}

}  // namespace

bool is_few_rows(const at::Tensor& x, const at::Tensor& weight) {
  const auto type = weight.scalar_type();
  return x.is_cpu() && x.dim() == 2 && x.size(0) > 0 && x.size(0) <= kMostRows && x.size(1) % kLanes == 0 &&
         (type == at::kFloat || type == at::kBFloat16) && x.scalar_type() == type && x.is_contiguous() &&
         weight.is_contiguous() && has_avx2();
}

at::Tensor few_rows(const at::Tensor& x, const at::Tensor& weight) {
  const auto wide = x.to(at::kFloat);
  auto y = at::empty({x.size(0), weight.size(0)}, wide.options());
  const auto job = [&]<class T>(const T* weights) {
    return FewRows<T>{
        wide.const_data_ptr<float>(), weights, y.mutable_data_ptr<float>(), x.size(0), x.size(1), weight.size(0)};
  };
  if (weight.scalar_type() == at::kFloat) {
    run(job(weight.const_data_ptr<float>()));
  } else {
    run(job(static_cast<const std::uint16_t*>(weight.const_data_ptr())));
  }
  return y;
}

}  // namespace tutti
