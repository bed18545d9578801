#include "model/gpu/out_of_memory.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <new>
#include <oneapi/dnnl/dnnl_common.hpp>
#include <utility>

#include "model/decoder_step/kernels.h"

namespace tutti {
namespace {

template <class Kind>
const Kind* as(const std::exception& problem) {
  return dynamic_cast<const Kind*>(&problem);
}

/// Torch's CPU allocator, cuBLAS and cuDNN report exhaustion as a plain error.
bool is_out_of_memory_text(const std::string& text) {
  for (const char* part : {"DefaultCPUAllocator", "ALLOC_FAILED", "ALLOCATION_FAILED"})
    if (text.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace

bool is_out_of_memory(const std::exception& problem) {
  if (as<c10::OutOfMemoryError>(problem) || as<std::bad_alloc>(problem)) return true;
  if (const auto* kernel = as<KernelError>(problem)) return kernel->is_out_of_memory();
  if (const auto* lost = as<c10::AcceleratorError>(problem))  // a failure of pinned memory, or of a graph
    return lost->get_error_code() == KernelError::kOutOfMemory;
  if (const auto* kernel = as<dnnl::error>(problem)) return kernel->status == dnnl_out_of_memory;  // for its own code
  const auto* torch = as<c10::Error>(problem);
  return torch && is_out_of_memory_text(torch->what_without_backtrace());
}

std::string text_of(const std::exception& problem) {
  if (as<std::bad_alloc>(problem)) return "out of memory";
  const auto* torch = as<c10::Error>(problem);
  std::string text = torch ? torch->what_without_backtrace() : problem.what();
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

Error failure_of(const std::exception& problem, const std::string& failed, std::string hint) {
  if (!is_out_of_memory(problem)) return {Fault::internal, failed + ": " + text_of(problem)};
  return {Fault::exhausted, failed + ", memory ran out: " + text_of(problem), std::move(hint)};
}

}  // namespace tutti
