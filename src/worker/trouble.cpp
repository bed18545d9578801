#include "worker/trouble.h"

#include <c10/util/Exception.h>

#include <exception>
#include <string>

#include "model/out_of_memory.h"
#include "model/step/kernels.h"

namespace tutti {
namespace {

bool says(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

/// cuBLAS and cuDNN report an error of the card that they are the first to notice as a plain one. What they do not
/// support they find out before they touch it.
bool says_device_lost(const std::string& text) {
  const bool refused = says(text, "NOT_SUPPORTED") || says(text, "ARCH_MISMATCH");
  return (says(text, "CUDA error:") || says(text, "cuDNN error:")) && !refused;
}

Trouble judged(const std::exception& problem, const char* doing) {
  const auto error = [&](Fault fault) { return Error{.fault = fault, .what = doing + (": " + text_of(problem))}; };
  if (is_out_of_memory(problem)) return {.error = error(Fault::exhausted), .out_of_memory = true};
  if (const auto* kernel = dynamic_cast<const KernelError*>(&problem))
    return {.error = error(Fault::device), .fatal = !kernel->is_missing_code()};
  const auto* torch = dynamic_cast<const c10::Error*>(&problem);
  if (!torch) return {.error = error(Fault::internal)};
  const bool lost =
      dynamic_cast<const c10::AcceleratorError*>(torch) || says_device_lost(torch->what_without_backtrace());
  return {.error = error(Fault::device), .fatal = lost};
}

}  // namespace

Trouble current_trouble(const char* doing) {
  try {
    throw;
  } catch (const std::exception& problem) {
    return judged(problem, doing);
  }
}

}  // namespace tutti
