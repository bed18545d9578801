#include "support/recording_cuda/device.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace tutti::recording_cuda {
namespace {

thread_local cudaError_t last = cudaSuccess;
thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

}  // namespace

Device& Device::get() {
  static auto* const device = new Device;  // libraries call it as the process ends
  return *device;
}

cudaError_t Device::failed(cudaError_t error) {
  return last = error;
}

cudaError_t Device::last_error(bool clear) {
  return clear ? std::exchange(last, cudaSuccess) : last;
}

void Device::exchange_mode(cudaStreamCaptureMode& mode) {
  std::swap(mode, thread_mode);
}

void Device::name_kernel(const void* kernel, const char* name) {
  const std::scoped_lock lock(mutex_);
  kernels_[kernel] = name;
}

cudaError_t Device::launch_kernel(const void* kernel, cudaStream_t stream) {
  const char* name = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    const auto known = kernels_.find(kernel);
    if (known == kernels_.end()) return failed(cudaErrorInvalidDeviceFunction);
    name = known->second;
  }
  return launch(name, stream);
}

cudaError_t Device::launch(const std::string& name, cudaStream_t stream) {
  const std::scoped_lock lock(mutex_);
  const bool captured = stream && stream->capturing;
  if (faults_.launch != cudaSuccess && name.find(faults_.part) != std::string::npos && (captured || !faults_.captured))
    return failed(faults_.launch);
  if (captured) {
    if (!stream->valid) return failed(cudaErrorStreamCaptureInvalidated);
    stream->graph.launches.push_back(name);
    return cudaSuccess;
  }
  if (!stream && capturing_) {  // the default stream would wait for the one in capture
    capturing_->valid = false;
    return failed(cudaErrorStreamCaptureImplicit);
  }
  calls_.launches.push_back(name);
  return cudaSuccess;
}

cudaError_t Device::copy(void* to, const void* from, std::size_t size, cudaStream_t stream, bool blocks) {
  const std::scoped_lock lock(mutex_);
  const auto source = type_here(from), target = type_here(to);
  const bool pageable = source == cudaMemoryTypeUnregistered || target == cudaMemoryTypeUnregistered;
  if (blocks) {
    if (const auto error = check_capture_here()) return error;
  }
  if (stream && stream->capturing) return cudaSuccess;  // a node that copies nothing
  if (target != cudaMemoryTypeDevice)
    source == cudaMemoryTypeDevice ? std::memset(to, 0, size) : std::memcpy(to, from, size);
  ++(blocks || pageable ? calls_.waits : calls_.copies);
  return cudaSuccess;
}

cudaError_t Device::wait(cudaStream_t stream) {
  const std::scoped_lock lock(mutex_);
  if (const auto error = check_capture_here()) return error;
  if (stream && stream->capturing) {
    stream->valid = false;
    return failed(cudaErrorStreamCaptureUnsupported);
  }
  ++calls_.waits;
  return cudaSuccess;
}

cudaError_t Device::check_capture() {
  const std::scoped_lock lock(mutex_);
  return check_capture_here();
}

cudaError_t Device::check_capture_here() {
  if (!capturing_ || thread_mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  capturing_->valid = false;
  return failed(cudaErrorStreamCaptureUnsupported);
}

cudaError_t Device::allocate(void** memory, std::size_t size, bool pinned) {
  const std::scoped_lock lock(mutex_);
  if (const auto error = check_capture_here()) return error;
  if (!pinned && used_ + size > faults_.memory) return failed(cudaErrorMemoryAllocation);
  const int access = pinned ? PROT_READ | PROT_WRITE : PROT_NONE;
  *memory = ::mmap(nullptr, size, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (*memory == MAP_FAILED) return failed(cudaErrorMemoryAllocation);
  memory_[reinterpret_cast<std::uintptr_t>(*memory)] = {size, pinned};
  if (!pinned) used_ += size;
  ++calls_.allocations;
  return cudaSuccess;
}

cudaError_t Device::release(void* memory) {
  const std::scoped_lock lock(mutex_);
  if (!memory) return cudaSuccess;
  if (const auto error = check_capture_here()) return error;
  const auto known = memory_.find(reinterpret_cast<std::uintptr_t>(memory));
  if (known == memory_.end()) return failed(cudaErrorInvalidValue);
  if (!known->second.pinned) used_ -= known->second.size;
  ::munmap(memory, known->second.size);
  memory_.erase(known);
  return cudaSuccess;
}

cudaMemoryType Device::type_of(const void* memory) {
  const std::scoped_lock lock(mutex_);
  return type_here(memory);
}

cudaMemoryType Device::type_here(const void* memory) const {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  auto next = memory_.upper_bound(address);
  if (next == memory_.begin()) return cudaMemoryTypeUnregistered;
  const auto& [first, allocation] = *--next;
  if (address >= first + allocation.size) return cudaMemoryTypeUnregistered;
  return allocation.pinned ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
}

std::pair<std::size_t, std::size_t> Device::memory() {
  const std::scoped_lock lock(mutex_);
  return {faults_.memory - std::min(used_, faults_.memory), faults_.memory};
}

cudaError_t Device::begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const std::scoped_lock lock(mutex_);
  if (!stream || capturing_) return failed(cudaErrorStreamCaptureUnsupported);
  *stream = {.capturing = true, .mode = mode, .capture = ++captures_};
  capturing_ = stream;
  return cudaSuccess;
}

cudaError_t Device::end_capture(cudaStream_t stream, cudaGraph_t* graph) {
  const std::scoped_lock lock(mutex_);
  if (!stream || stream != capturing_) return failed(cudaErrorIllegalState);
  const auto captured = std::exchange(*stream, {});
  capturing_ = nullptr;
  *graph = nullptr;
  if (!captured.valid || faults_.captures) return failed(cudaErrorStreamCaptureInvalidated);
  last_graph_ = captured.graph.launches;
  *graph = new CUgraph_st(captured.graph);
  return cudaSuccess;
}

cudaError_t Device::instantiate(cudaGraphExec_t* exec) {
  const std::scoped_lock lock(mutex_);
  if (faults_.graphs) return failed(cudaErrorMemoryAllocation);
  *exec = new CUgraphExec_st;
  return cudaSuccess;
}

Calls take_calls() {
  auto& device = Device::get();
  const std::scoped_lock lock(device.mutex_);
  return std::exchange(device.calls_, {});
}

std::vector<std::string> last_graph() {
  auto& device = Device::get();
  const std::scoped_lock lock(device.mutex_);
  return device.last_graph_;
}

void limit_memory(std::size_t more) {
  auto& device = Device::get();
  const std::scoped_lock lock(device.mutex_);
  device.faults_.memory = device.used_ + more;
}

void refuse_graphs() {
  auto& device = Device::get();
  const std::scoped_lock lock(device.mutex_);
  device.faults_.graphs = true;
}

void fail_launches(const std::string& part, int code, bool captured) {
  auto& device = Device::get();
  const std::scoped_lock lock(device.mutex_);
  device.faults_.part = part;
  device.faults_.launch = static_cast<cudaError_t>(code);
  device.faults_.captured = captured;
}

void invalidate_captures() {
  auto& device = Device::get();
  const std::scoped_lock lock(device.mutex_);
  device.faults_.captures = true;
}

void heal() {
  auto& device = Device::get();
  const std::scoped_lock lock(device.mutex_);
  device.faults_ = {};
}

}  // namespace tutti::recording_cuda
