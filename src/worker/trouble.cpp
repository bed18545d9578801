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
    // Torch's CPU allocator reports exhaustion as a plain error.
    const std::string what = torch.what_without_backtrace();
    if (what.find("DefaultCPUAllocator") != std::string::npos) {
      return {.error = error(Fault::exhausted, what), .out_of_memory = true};
    }
    return {.error = error(Fault::device, what)};
  } catch (const KernelError& kernel) {
    if (kernel.is_out_of_memory()) return {.error = error(Fault::exhausted, kernel.what()), .out_of_memory = true};
    return {.error = error(Fault::device, kernel.what()), .fatal = !kernel.is_missing_code()};
  } catch (const std::exception& other) {
    return {.error = error(Fault::internal, other.what())};
  }
}

}  // namespace tutti
