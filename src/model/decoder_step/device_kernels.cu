#include <cuda_runtime.h>

#include <string>

#include "model/decoder_step/device_kernels.h"
#include "model/decoder_step/kernel_table.h"

namespace tutti {
namespace {

constexpr int kWarp = 32;
constexpr int kWarps = kThreads / kWarp;
constexpr unsigned kAll = 0xffffffffU;

/// What one instruction moves.
template <std::size_t kBytes>
struct Word;
template <>
struct Word<4> {
  using Type = unsigned;
};
template <>
struct Word<8> {
  using Type = uint2;
};
template <>
struct Word<16> {
  using Type = uint4;
};
template <class T>
using WordOf = typename Word<sizeof(T)>::Type;

template <class T>
__device__ T from_word(WordOf<T> word) {
  T value;
  memcpy(&value, &word, sizeof value);
  return value;
}

/// Neighbours of a warp; this thread's lane.
template <class Lane, int kMembers>
struct DeviceGroup {
  int index, member;
  Lane lane{};

  template <class Fn>
  __device__ void each(Fn fn) {
    fn(lane, member);
  }

  template <class Fn>
  __device__ void step(Fn fn) {
    static_assert(kMembers == kWarp);
    fn(lane, member);
    __syncwarp();
  }

  template <class Fn>
  __device__ auto sums(Fn fn) {
    auto all = fn(lane, member);
    for (int step = kMembers / 2; step > 0; step /= 2) {
      for (float& sum : all.at) sum += __shfl_xor_sync(kAll, sum, step);
    }
    return all;
  }

  template <class Fn>
  __device__ float greatest(Fn fn) {
    float most = fn(lane, member);
    for (int step = kMembers / 2; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(kAll, most, step));
    return most;
  }
};

/// A team that is a block.
struct DeviceTeam {
  // Words: nvcc loads an aggregate by the types of its members, which would be two bytes at a time.
  template <class T>
  __device__ T load(const T* from) const {
    return from_word<T>(__ldg(reinterpret_cast<const WordOf<T>*>(from)));
  }
  template <class T>
  __device__ T read(const T* from) const {
    return from_word<T>(*reinterpret_cast<const WordOf<T>*>(from));
  }
  template <class T>
  __device__ void write(T* to, const T& value) const {
    WordOf<T> word;
    memcpy(&word, &value, sizeof word);
    *reinterpret_cast<WordOf<T>*>(to) = word;
  }

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

  template <class Lane, int kMembers, class Fn>
  __device__ void each_group(Fn fn) const {
    const int thread = static_cast<int>(threadIdx.x);
    DeviceGroup<Lane, kMembers> group{thread / kMembers, thread % kMembers};
    fn(group);
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

/// Blocks that a multiprocessor holds at once, at least: 85 registers a thread. Without it the compiler saves registers
/// by loading the values only when the scores are there.
template <class Body>
constexpr int kResident = 3;
/// 128 registers, of which the sums of five rows are 40. Sixteen warps issue for longer than their loads take.
template <class T, class K>
constexpr int kResident<AttendSharedBody<T, K>> = 2;

template <class Body, class Job>
__global__ void __launch_bounds__(kThreads, kResident<Body>) run_unit(const Job job) {
  extern __shared__ __align__(16) float shared[];
  Body::run(DeviceTeam{}, job, blockIdx.x, shared);
}

struct DeviceLaunch {
  template <class Body, class Job>
  static void run(const Job& job, std::int64_t units, std::int64_t shared_floats, Stream stream) {
    run_unit<Body><<<static_cast<unsigned>(units), kThreads, static_cast<std::size_t>(shared_floats) * sizeof(float),
                     static_cast<cudaStream_t>(stream)>>>(job);
    const auto status = cudaGetLastError();
    if (status != cudaSuccess)
      throw KernelError(status, std::string(cudaGetErrorString(status)) + " (kernel " + Body::kName + ")");
  }
};

}  // namespace

const StepKernels& device_step_kernels() {
  return KernelTable<DeviceLaunch>::kTable;
}

}  // namespace tutti
