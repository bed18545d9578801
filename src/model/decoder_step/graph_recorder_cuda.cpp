#include "model/decoder_step/graph_recorder_cuda.h"

#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>

#include <exception>
#include <memory>
#include <utility>

namespace tutti {
namespace {

using Pool = std::shared_ptr<const at::cuda::MempoolId_t>;

class Graph : public StepRecording {
 public:
  explicit Graph(Pool pool) : pool_(std::move(pool)) {}

  void capture(const std::function<void()>& work) {
    graph_.capture_begin(*pool_, cudaStreamCaptureModeThreadLocal);
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
      clean_up(*pool_);
    }
    if (failure) std::rethrow_exception(failure);
  }

  void replay() override { graph_.replay(); }

 private:
  /// A failed capture is not a failed device, and must not go on taking memory from the pool.
  static void clean_up(at::cuda::MempoolId_t pool) {
    static_cast<void>(cudaGetLastError());
    const auto end = [](auto&& ending) {
      try {
        ending();
      } catch (const c10::Error&) {
        // It had ended already.
      }
    };
    end([&] { c10::cuda::CUDACachingAllocator::endAllocateToPool(c10::cuda::current_device(), pool); });
    end([&] { at::getHostAllocator(at::kCUDA)->end_allocate_to_pool(pool); });
  }

  Pool pool_;  // outlives the graph
  at::cuda::CUDAGraph graph_{};
};

class GraphRecorder : public StepRecorder {
 public:
  GraphRecorder(int index, gpu::Urgency urgency)
      : stream_(c10::cuda::getStreamFromPool(urgency == gpu::Urgency::high, static_cast<c10::DeviceIndex>(index))) {}

  std::unique_ptr<StepRecording> record(const std::function<void()>& work) override {
    const auto current = c10::cuda::getCurrentCUDAStream(stream_.device_index());
    wait(stream_, current);
    auto graph = std::make_unique<Graph>(pool());
    {
      const c10::cuda::CUDAStreamGuard here(stream_);
      try {
        work();  // what libraries allocate at their first call cannot be captured
      } catch (...) {
        stream_.synchronize();  // what it enqueued still uses its memory
        throw;
      }
      stream_.synchronize();
      graph->capture(work);
    }
    wait(current, stream_);
    return graph;
  }

 private:
  /// One for all graphs that live at a time. The allocators give a pool up with its last graph and do not take its
  /// number again.
  Pool pool() {
    auto pool = pool_.lock();
    if (!pool) pool_ = pool = std::make_shared<const at::cuda::MempoolId_t>(at::cuda::graph_pool_handle());
    return pool;
  }

  static void wait(const c10::cuda::CUDAStream& stream, const c10::cuda::CUDAStream& until) {
    at::cuda::CUDAEvent done;
    done.record(until);
    done.block(stream);
  }

  c10::cuda::CUDAStream stream_;
  std::weak_ptr<const at::cuda::MempoolId_t> pool_{};
};

}  // namespace

std::shared_ptr<StepRecorder> make_graph_recorder(int index, gpu::Urgency urgency) {
  return std::make_shared<GraphRecorder>(index, urgency);
}

}  // namespace tutti
