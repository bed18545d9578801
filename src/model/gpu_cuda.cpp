#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <span>

#include "model/decoder_step/device_kernels.h"
#include "model/decoder_step/graph_recorder_cuda.h"
#include "model/gpu/card_sum.h"
#include "model/gpu/gpu_uuid.h"
#include "model/gpu_part.h"

namespace tutti::gpu {
namespace {

Bytes bytes(std::size_t value) {
  return Bytes{static_cast<std::int64_t>(value)};
}

int cuda_count() {
  return c10::cuda::device_count();
}

Facts cuda_facts(int index) {
  const auto* found = at::cuda::getDeviceProperties(static_cast<c10::DeviceIndex>(index));
  return {found->name, gpu_uuid_text(std::as_bytes(std::span(found->uuid.bytes))), bytes(found->totalGlobalMem),
          found->major * 10 + found->minor, found->multiProcessorCount};
}

Memory cuda_memory(int index) {
  const auto [free, total] =
      c10::cuda::CUDACachingAllocator::get()->getMemoryInfo(static_cast<c10::DeviceIndex>(index));
  return {bytes(free), bytes(total)};
}

void cuda_synchronize(int index) {
  c10::cuda::getCurrentCUDAStream(static_cast<c10::DeviceIndex>(index)).synchronize();
}

void cuda_release_cached_memory() {
  c10::cuda::CUDACachingAllocator::emptyCache();
}

void cuda_limit_memory(int index, double share) {
  c10::cuda::CUDACachingAllocator::get()->setMemoryFraction(share, static_cast<c10::DeviceIndex>(index));
}

bool cuda_can_access(int index, int peer) {
  return at::cuda::canDeviceAccessPeer(static_cast<c10::DeviceIndex>(index), static_cast<c10::DeviceIndex>(peer));
}

const StepKernels* cuda_step_kernels() {
  return &device_step_kernels();
}

Stream cuda_current_stream(int index) {
  return c10::cuda::getCurrentCUDAStream(static_cast<c10::DeviceIndex>(index)).stream();
}

void cuda_use_urgent_stream(int index) {
  cuda_synchronize(index);
  c10::cuda::setCurrentCUDAStream(
      c10::cuda::getStreamFromPool(/*isHighPriority=*/true, static_cast<c10::DeviceIndex>(index)));
}

class CudaSideStream : public SideStream {
 public:
  explicit CudaSideStream(int index)
      : stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, static_cast<c10::DeviceIndex>(index))) {}

  void run(const std::function<void()>& work) override {
    at::cuda::CUDAEvent before;
    before.record(c10::cuda::getCurrentCUDAStream(stream_.device_index()));
    before.block(stream_);
    const c10::cuda::CUDAStreamGuard here(stream_);
    work();
    last_.record(stream_);
  }

  bool done() override { return last_.query(); }
  void wait() override { stream_.synchronize(); }

 private:
  c10::cuda::CUDAStream stream_;
  at::cuda::CUDAEvent last_{};
};

std::shared_ptr<SideStream> cuda_side_stream(int index) {
  return std::make_shared<CudaSideStream>(index);
}

}  // namespace

extern "C" const Part* tutti_cuda_part() {
  static constexpr Part kPart{.count = cuda_count,
                              .facts = cuda_facts,
                              .memory = cuda_memory,
                              .synchronize = cuda_synchronize,
                              .release_cached_memory = cuda_release_cached_memory,
                              .limit_memory = cuda_limit_memory,
                              .can_access = cuda_can_access,
                              .step_kernels = cuda_step_kernels,
                              .current_stream = cuda_current_stream,
                              .make_recorder = make_graph_recorder,
                              .use_urgent_stream = cuda_use_urgent_stream,
                              .make_side_stream = cuda_side_stream,
                              .card_sum_key = card_sum_key_cuda,
                              .make_card_sum = make_card_sum_cuda};
  return &kPart;
}

}  // namespace tutti::gpu
