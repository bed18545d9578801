#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// A CUDA driver, runtime and cuBLAS of one H100 that compute nothing, for tests without a GPU: kernels, products and
/// graphs are recorded and not executed. Device memory is address space that nothing may touch; copies to the host
/// bring zeros. A program linked with it has torch's own CUDA operators and libtutti-cuda.so run on it, because its
/// symbols come before those of libcudart and libcublas. cuDNN and NCCL are not in it. Thread-safe.
namespace tutti::recording_cuda {

/// What was enqueued and what the host waited for.
struct Calls {
  /// Outside a capture, in order: a kernel's mangled name, a product's function, "memset", "graph" for a whole graph.
  std::vector<std::string> launches{};
  int copies = 0;       // between pinned memory and the device, or on it
  int waits = 0;        // synchronisations, blocking copies and copies of memory that is not pinned
  int allocations = 0;  // of device or pinned memory
};

/// Calls since the last one.
Calls take_calls();

/// The launches in the graph that was captured last.
std::vector<std::string> last_graph();

// Faults, from now on until `heal`.

/// The device has so much memory beyond what is allocated now, in bytes.
void limit_memory(std::size_t more);
/// Graphs cannot be instantiated: out of memory.
void refuse_graphs();
/// Launches whose names contain `part` fail with that cudaError_t. captured: only in a capture.
void fail_launches(const std::string& part, int code, bool captured = false);
/// Every capture is invalid when it ends, as after a forbidden call within it.
void invalidate_captures();
void heal();

}  // namespace tutti::recording_cuda
