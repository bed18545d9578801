#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "support/recording_cuda/recording_cuda.h"

// CUDA's handles, which its headers leave open.
struct CUgraph_st {
  std::vector<std::string> launches{};
};
struct CUstream_st {
  bool capturing = false;
  bool valid = true;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  unsigned long long capture = 0;  // the number of the capture
  CUgraph_st graph{};
};
struct CUevent_st {};
struct CUgraphExec_st {};

namespace tutti::recording_cuda {

inline constexpr std::size_t kMemory = std::size_t{80} << 30;

/// The state of the device that records. Every call returns what CUDA's would and keeps an error as the last one.
class Device {
 public:
  static Device& get();

  void name_kernel(const void* kernel, const char* name);
  cudaError_t launch_kernel(const void* kernel, cudaStream_t stream);
  cudaError_t launch(const std::string& name, cudaStream_t stream);
  cudaError_t copy(void* to, const void* from, std::size_t size, cudaStream_t stream, bool blocks);
  /// The host waits. stream: null for all.
  cudaError_t wait(cudaStream_t stream = nullptr);
  /// Calls that may not be made by a thread that captures.
  cudaError_t check_capture();

  cudaError_t allocate(void** memory, std::size_t size, bool pinned);
  cudaError_t release(void* memory);
  cudaMemoryType type_of(const void* memory);
  /// Free and in all.
  std::pair<std::size_t, std::size_t> memory();

  cudaError_t begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode);
  cudaError_t end_capture(cudaStream_t stream, cudaGraph_t* graph);
  cudaError_t instantiate(cudaGraphExec_t* exec);

  static cudaError_t failed(cudaError_t error);
  static cudaError_t last_error(bool clear);
  static void exchange_mode(cudaStreamCaptureMode& mode);

 private:
  friend Calls tutti::recording_cuda::take_calls();
  friend std::vector<std::string> tutti::recording_cuda::last_graph();
  friend void tutti::recording_cuda::limit_memory(std::size_t more);
  friend void tutti::recording_cuda::refuse_graphs();
  friend void tutti::recording_cuda::fail_launches(const std::string& part, int code, bool captured);
  friend void tutti::recording_cuda::invalidate_captures();
  friend void tutti::recording_cuda::heal();

  struct Faults {
    std::size_t memory = kMemory;  // the device's
    bool graphs = false;
    bool captures = false;
    std::string part{};
    cudaError_t launch = cudaSuccess;
    bool captured = false;
  };
  struct Allocation {
    std::size_t size;
    bool pinned;
  };

  cudaMemoryType type_here(const void* memory) const;
  cudaError_t check_capture_here();

  std::mutex mutex_{};
  Calls calls_{};
  Faults faults_{};
  std::unordered_map<const void*, const char*> kernels_{};
  std::map<std::uintptr_t, Allocation> memory_{};
  std::size_t used_ = 0;
  unsigned long long captures_ = 0;
  cudaStream_t capturing_ = nullptr;  // one at a time
  std::vector<std::string> last_graph_{};
};

}  // namespace tutti::recording_cuda
