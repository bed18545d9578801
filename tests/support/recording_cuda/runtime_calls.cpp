// The calls of CUDA's runtime and driver that torch and the project make. One that is not here is the real library's,
// which fails without a driver: so none is overlooked.
#include <cstring>
#include <tuple>

#include "support/recording_cuda/device.h"

using tutti::recording_cuda::Device;

namespace {

/// What <<<...>>> leaves for the launch behind it.
struct Configuration {
  dim3 grid, block;
  std::size_t shared;
  void* stream;
};
thread_local Configuration configuration{};

template <class T, class... Values>
cudaError_t make(T** handle, Values... values) {
  *handle = new T{values...};
  return cudaSuccess;
}

template <class T>
cudaError_t destroy(T* handle) {
  delete handle;
  return cudaSuccess;
}

template <class T, class Value>
cudaError_t give(T* to, Value value) {
  *to = static_cast<T>(value);
  return cudaSuccess;
}

}  // namespace

extern "C" {

// Kernels.

void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  Device::get().name_kernel(host, name);
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, CUstream_st* stream) {
  configuration = {grid, block, shared, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  *grid = configuration.grid;
  *block = configuration.block;
  *shared = configuration.shared;
  return give(static_cast<void**>(stream), configuration.stream);
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(host));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3, dim3, void**, std::size_t, cudaStream_t stream) {
  return Device::get().launch_kernel(kernel, stream);
}
cudaError_t cudaLaunchKernel(const void* host, dim3, dim3, void**, std::size_t, cudaStream_t stream) {
  return Device::get().launch_kernel(host, stream);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* host, void**) {
  return Device::get().launch_kernel(host, config->stream);
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 64;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int, std::size_t,
                                                                   unsigned) {
  return give(blocks, 2);
}

// The device.

cudaError_t cudaGetDeviceCount(int* count) {
  return give(count, 1);
}
cudaError_t cudaGetDevice(int* device) {
  return give(device, 0);
}
cudaError_t cudaSetDevice(int device) {
  return device == 0 ? cudaSuccess : Device::failed(cudaErrorInvalidDevice);
}
cudaError_t cudaDriverGetVersion(int* version) {
  return give(version, CUDART_VERSION);
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  return give(version, CUDART_VERSION);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* found, int) {
  *found = {};
  std::strcpy(found->name, "an H100 that records");
  found->totalGlobalMem = tutti::recording_cuda::kMemory;
  found->major = 9;
  found->warpSize = 32;
  found->multiProcessorCount = 132;
  found->maxThreadsPerBlock = found->maxThreadsDim[0] = found->maxThreadsDim[1] = 1024;
  found->maxThreadsDim[2] = 64;
  found->maxGridSize[0] = 0x7fffffff;
  found->maxGridSize[1] = found->maxGridSize[2] = 0xffff;
  found->sharedMemPerBlock = 48 << 10;
  found->sharedMemPerBlockOptin = 227 << 10;
  found->sharedMemPerMultiprocessor = 228 << 10;
  found->regsPerBlock = found->regsPerMultiprocessor = 65536;
  found->maxThreadsPerMultiProcessor = 2048;
  found->maxBlocksPerMultiProcessor = 32;
  found->l2CacheSize = 50 << 20;
  found->textureAlignment = 512;
  found->unifiedAddressing = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor: return give(value, 9);
    case cudaDevAttrComputeCapabilityMinor: return give(value, 0);
    case cudaDevAttrMultiProcessorCount: return give(value, 132);
    case cudaDevAttrMaxSharedMemoryPerBlock: return give(value, 48 << 10);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return give(value, 227 << 10);
    case cudaDevAttrWarpSize: return give(value, 32);
    case cudaDevAttrMaxThreadsPerBlock: return give(value, 1024);
    case cudaDevAttrMaxGridDimX: return give(value, 0x7fffffff);
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: return give(value, 0xffff);
    default: return Device::failed(cudaErrorInvalidValue);
  }
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  return give(can, 0);
}
cudaError_t cudaDeviceSynchronize() {
  return Device::get().wait();
}
cudaError_t cudaGetLastError() {
  return Device::last_error(/*clear=*/true);
}
cudaError_t cudaPeekAtLastError() {
  return Device::last_error(/*clear=*/false);
}
cudaError_t cudaGetDriverEntryPointByVersion(const char*, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* status) {
  *status = cudaDriverEntryPointSymbolNotFound;
  return give(function, nullptr);
}

// Memory.

cudaError_t cudaMalloc(void** memory, std::size_t size) {
  return Device::get().allocate(memory, size, /*pinned=*/false);
}
cudaError_t cudaHostAlloc(void** memory, std::size_t size, unsigned) {
  return Device::get().allocate(memory, size, /*pinned=*/true);
}
cudaError_t cudaFree(void* memory) {
  return Device::get().release(memory);
}
cudaError_t cudaFreeHost(void* memory) {
  return Device::get().release(memory);
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  std::tie(*free, *total) = Device::get().memory();
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* found, const void* memory) {
  *found = {};
  found->type = Device::get().type_of(memory);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t size, cudaMemcpyKind) {
  return Device::get().copy(to, from, size, nullptr, /*blocks=*/true);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size, cudaMemcpyKind, cudaStream_t stream) {
  return Device::get().copy(to, from, size, stream, /*blocks=*/false);
}
cudaError_t cudaMemset(void*, int, std::size_t) {
  return Device::get().launch("memset", nullptr);
}
cudaError_t cudaMemsetAsync(void*, int, std::size_t, cudaStream_t stream) {
  return Device::get().launch("memset", stream);
}

// Streams and events.

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  return give(greatest, -5);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return make(stream);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return destroy(stream);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return Device::get().wait(stream);
}
cudaError_t cudaStreamQuery(cudaStream_t) {
  return Device::get().check_capture();
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return make(event);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return make(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return destroy(event);
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t, cudaStream_t, unsigned) {
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t) {
  return Device::get().check_capture();
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return Device::get().wait();
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  return give(milliseconds, 1);
}

// Graphs.

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  Device::exchange_mode(*mode);
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(stream, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t**, const cudaGraphEdgeData**,
                                     std::size_t* dependencies) {
  const bool capturing = stream && stream->capturing;
  *status = !capturing      ? cudaStreamCaptureStatusNone
            : stream->valid ? cudaStreamCaptureStatusActive
                            : cudaStreamCaptureStatusInvalidated;
  if (capturing && id) *id = stream->capture;
  if (capturing && graph) *graph = &stream->graph;
  if (dependencies) *dependencies = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return Device::get().begin_capture(stream, mode);
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return Device::get().end_capture(stream, graph);
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t*, std::size_t* count) {
  return give(count, graph->launches.size());
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t, unsigned long long) {
  return Device::get().instantiate(exec);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t stream) {
  return Device::get().launch("graph", stream);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return destroy(graph);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return destroy(exec);
}

// The driver: torch only looks whether the device is in use. It takes the addresses of the others.

int cuCtxGetCurrent(void** context) {
  static int one = 0;
  *context = &one;
  return 0;
}
int cuDevicePrimaryCtxGetState(int, unsigned* flags, int* active) {
  *flags = 0;
  *active = 1;
  return 0;
}
#define TUTTI_NOT_SUPPORTED(call) \
  int call() {                    \
    return 801;                   \
  }
TUTTI_NOT_SUPPORTED(cuCtxSetCurrent)
TUTTI_NOT_SUPPORTED(cuDeviceGet)
TUTTI_NOT_SUPPORTED(cuDeviceGetAttribute)
TUTTI_NOT_SUPPORTED(cuDevicePrimaryCtxRetain)
TUTTI_NOT_SUPPORTED(cuFuncGetAttribute)
TUTTI_NOT_SUPPORTED(cuFuncSetAttribute)
TUTTI_NOT_SUPPORTED(cuFuncSetCacheConfig)
TUTTI_NOT_SUPPORTED(cuGetErrorString)
TUTTI_NOT_SUPPORTED(cuLaunchCooperativeKernel)
TUTTI_NOT_SUPPORTED(cuLaunchKernel)
TUTTI_NOT_SUPPORTED(cuLinkAddData_v2)
TUTTI_NOT_SUPPORTED(cuLinkComplete)
TUTTI_NOT_SUPPORTED(cuLinkCreate_v2)
TUTTI_NOT_SUPPORTED(cuModuleGetFunction)
TUTTI_NOT_SUPPORTED(cuModuleLoad)
TUTTI_NOT_SUPPORTED(cuModuleLoadData)
TUTTI_NOT_SUPPORTED(cuModuleLoadDataEx)
TUTTI_NOT_SUPPORTED(cuModuleUnload)
TUTTI_NOT_SUPPORTED(cuOccupancyMaxActiveBlocksPerMultiprocessor)
TUTTI_NOT_SUPPORTED(cuPointerGetAttribute)
TUTTI_NOT_SUPPORTED(cuTensorMapEncodeTiled)

}  // extern "C"
