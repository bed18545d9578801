#include "model/step/graph_recorder_cuda.h"

#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>

#include <exception>

namespace tutti {
namespace {

class Graph : public StepRecording {
 public:
  void capture(at::cuda::MempoolId_t pool, const std::function<void()>& work) {
    graph_.capture_begin(pool, cudaStreamCaptureModeThreadLocal);
    std::exception_ptr failure;
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    try {
      graph_.capture_end();  // whatever happened: the stream must not stay in capture
    } catch (...) {
      if (!failure) failure = std::current_exception();
      clean_up(pool);
    }
    if (failure) std::rethrow_exception(failure);
  }

  void replay() override { graph_.replay(); }

 private:
  /// A failed capture is not a failed device, and must not go on taking memory from the pool.
  static void clean_up(at::cuda::MempoolId_t pool) {
    static_cast<void>(cudaGetLastError());
    try {
      c10::cuda::CUDACachingAllocator::endAllocateToPool(c10::cuda::current_device(), pool);
    } catch (const c10::Error&) {
      // It had ended already.
    }
  }

  at::cuda::CUDAGraph graph_;
};

class GraphRecorder : public StepRecorder {
 public:
  explicit GraphRecorder(int index)
      : stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, static_cast<c10::DeviceIndex>(index))) {}

  std::unique_ptr<StepRecording> record(const std::function<void()>& work) override {
    const auto current = c10::cuda::getCurrentCUDAStream(stream_.device_index());
    wait(stream_, current);
    auto graph = std::make_unique<Graph>();
    {
      const c10::cuda::CUDAStreamGuard here(stream_);
      work();  // what libraries allocate when they are first asked cannot be captured
      stream_.synchronize();
      graph->capture(pool_, work);
    }
    wait(current, stream_);
    return graph;
  }

 private:
  static void wait(const c10::cuda::CUDAStream& stream, const c10::cuda::CUDAStream& until) {
    at::cuda::CUDAEvent done;
    done.record(until);
    done.block(stream);
  }

  c10::cuda::CUDAStream stream_;
  at::cuda::MempoolId_t pool_ = at::cuda::graph_pool_handle();
};

}  // namespace

std::shared_ptr<StepRecorder> make_graph_recorder(int index) {
  return std::make_shared<GraphRecorder>(index);
}

}  // namespace tutti
