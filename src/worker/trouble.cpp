#include "worker/trouble.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string>

#include "model/step/kernels.h"

namespace tutti {
namespace {

std::string first_line(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

bool says(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

/// Torch's CPU allocator, cuBLAS and cuDNN report exhaustion as a plain error.
bool says_out_of_memory(const std::string& text) {
  return says(text, "DefaultCPUAllocator") || says(text, "ALLOC_FAILED") || says(text, "ALLOCATION_FAILED");
}

/// So do the latter with an error of the card that they are the first to notice. What they do not support they find out
/// before they touch it.
bool says_device_lost(const std::string& text) {
  const bool refused = says(text, "NOT_SUPPORTED") || says(text, "ARCH_MISMATCH");
  return (says(text, "CUDA error:") || says(text, "cuDNN error:")) && !refused;
}

}  // namespace

Trouble current_trouble(const char* doing) {
  const auto error = [&](Fault fault, const std::string& what) {
    return Error{.fault = fault, .what = std::string(doing) + ": " + first_line(what)};
  };
  try {
    throw;
  } catch (const c10::OutOfMemoryError& out) {
    return {.error = error(Fault::exhausted, out.what_without_backtrace()), .out_of_memory = true};
  } catch (const std::bad_alloc&) {
    return {.error = error(Fault::exhausted, "out of memory"), .out_of_memory = true};
  } catch (const c10::AcceleratorError& lost) {
    if (lost.get_error_code() == KernelError::kOutOfMemory)  // of pinned memory, or of a graph
      return {.error = error(Fault::exhausted, lost.what_without_backtrace()), .out_of_memory = true};
    return {.error = error(Fault::device, lost.what_without_backtrace()), .fatal = true};
  } catch (const c10::Error& torch) {
    const std::string what = torch.what_without_backtrace();
    if (says_out_of_memory(what)) return {.error = error(Fault::exhausted, what), .out_of_memory = true};
    return {.error = error(Fault::device, what), .fatal = says_device_lost(what)};
  } catch (const KernelError& kernel) {
    if (kernel.is_out_of_memory()) return {.error = error(Fault::exhausted, kernel.what()), .out_of_memory = true};
    return {.error = error(Fault::device, kernel.what()), .fatal = !kernel.is_missing_code()};
  } catch (const std::exception& other) {
    return {.error = error(Fault::internal, other.what())};
  }
}

}  // namespace tutti
