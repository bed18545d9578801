#include <cuda_runtime.h>

#include <string>

#include "model/decoder_step/device_kernels.h"
#include "model/decoder_step/kernel_table.h"

namespace tutti {
namespace {

constexpr int kWarp = 32;
constexpr int kWarps = kThreads / kWarp;
constexpr unsigned kAll = 0xffffffffU;

/// A team that is a block.
struct DeviceTeam {
  template <class Fn>
  __device__ void each(Fn fn) const {
    fn(static_cast<int>(threadIdx.x));
    __syncthreads();
  }

  template <class Fn>
  __device__ float total(Fn fn) const {
    return over_all(fn(static_cast<int>(threadIdx.x)), 0.0F, [](float a, float b) { return a + b; });
  }

  template <class Fn>
  __device__ float greatest(Fn fn) const {
    return over_all(fn(static_cast<int>(threadIdx.x)), -INFINITY, [](float a, float b) { return fmaxf(a, b); });
  }

  template <class Setup, class Part, class Use>
  __device__ void group_sums(int rounds, Setup setup, Part part, Use use) const {
    const int group = static_cast<int>(threadIdx.x) / kGroup, member = static_cast<int>(threadIdx.x) % kGroup;
    const auto state = setup(member);
#pragma unroll 4
    for (int round = 0; round < rounds; ++round) {
      float sum = part(state, group, member, round);
      for (int step = kGroup / 2; step > 0; step /= 2) sum += __shfl_xor_sync(kAll, sum, step);
      if (member == 0) use(group, round, sum);
    }
    __syncthreads();
  }

 private:
  /// `both` of all threads' values, the same for all of them.
  template <class Both>
  __device__ float over_all(float value, float nothing, Both both) const {
    __shared__ float of_warps[kWarps];
    for (int step = kWarp / 2; step > 0; step /= 2) value = both(value, __shfl_xor_sync(kAll, value, step));
    if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = value;
    __syncthreads();
    value = nothing;
    for (int warp = 0; warp < kWarps; ++warp) value = both(value, of_warps[warp]);
    __syncthreads();  // before the next call writes there
    return value;
  }
};

template <class Body, class Job>
__global__ void __launch_bounds__(kThreads) run_unit(const Job job) {
  extern __shared__ float shared[];
  Body::run(DeviceTeam{}, job, blockIdx.x, shared);
}

struct DeviceLaunch {
  template <class Body, class Job>
  static void run(const Job& job, std::int64_t units, std::int64_t shared_floats, Stream stream) {
    run_unit<Body><<<static_cast<unsigned>(units), kThreads, static_cast<std::size_t>(shared_floats) * sizeof(float),
                     static_cast<cudaStream_t>(stream)>>>(job);
    const auto status = cudaGetLastError();
    if (status != cudaSuccess) throw KernelError(status, cudaGetErrorString(status));
  }
};

}  // namespace

const StepKernels& device_step_kernels() {
  return KernelTable<DeviceLaunch>::kTable;
}

}  // namespace tutti
