#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "base/clock.h"
#include "checks.h"
#include "model/gpu.h"

namespace tutti {

double rate_of(Seconds least, const std::function<void()>& call) {
  call();
  const auto begun = Clock::real().now();
  Seconds taken{};
  int calls = 0;
  while (calls < 3 || taken < least) {
    call();
    ++calls;
    taken = Clock::real().now() - begun;
  }
  return calls / taken.count();
}

Peaks measure_peaks(at::Device device, at::ScalarType type) {
  const c10::InferenceMode no_autograd;
  const bool gpu = device.is_cuda();
  const std::int64_t side = gpu ? 8192 : 1024, bytes = gpu ? 1 << 30 : 1 << 28;
  const int together = gpu ? 8 : 1;  // between two waits for the device
  const auto wait = [&] {
    if (gpu) gpu::synchronize(device.index());
  };
  const auto repeat = [&](const std::function<void()>& work) {
    return together * rate_of(Seconds(0.3), [&] {
             for (int i = 0; i < together; ++i) work();
             wait();
           });
  };
  const auto a = at::randn({side, side}, at::TensorOptions(device)).to(type), b = a.clone();
  auto c = at::empty_like(a);
  const auto from = at::zeros({bytes}, at::TensorOptions(at::kByte).device(device));
  auto to = at::empty_like(from);
  const auto size = static_cast<double>(side);
  return {.flops = 2 * size * size * size * repeat([&] { at::mm_out(c, a, b); }),
          .bandwidth = 2 * static_cast<double>(bytes) * repeat([&] { to.copy_(from); })};
}

}  // namespace tutti
