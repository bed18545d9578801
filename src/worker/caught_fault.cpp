#include "worker/caught_fault.h"

#include <c10/util/Exception.h>

#include <exception>
#include <string>

#include "model/decoder_step/kernels.h"
#include "model/gpu/out_of_memory.h"

namespace tutti {
namespace {

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

/// cuBLAS and cuDNN report an error of the GPU that they are the first to notice as a plain one. What they do not
/// support they find out before they touch it.
bool is_device_lost_text(const std::string& text) {
  const bool refused = contains(text, "NOT_SUPPORTED") || contains(text, "ARCH_MISMATCH");
  return (contains(text, "CUDA error:") || contains(text, "cuDNN error:")) && !refused;
}

CaughtFault fault_of(const std::exception& problem, const char* doing) {
  const auto error = [&](Fault fault) { return Error{.fault = fault, .what = doing + (": " + text_of(problem))}; };
  if (is_out_of_memory(problem)) return {.error = error(Fault::exhausted), .out_of_memory = true};
  if (const auto* kernel = dynamic_cast<const KernelError*>(&problem))
    return {.error = error(Fault::device), .fatal = !kernel->is_missing_code()};
  const auto* torch = dynamic_cast<const c10::Error*>(&problem);
  if (!torch) return {.error = error(Fault::internal)};
  const bool lost =
      dynamic_cast<const c10::AcceleratorError*>(torch) || is_device_lost_text(torch->what_without_backtrace());
  return {.error = error(Fault::device), .fatal = lost};
}

}  // namespace

CaughtFault caught_fault(const char* doing) {
  try {
    throw;
  } catch (const std::exception& problem) {
    return fault_of(problem, doing);
  }
}

}  // namespace tutti
