#include "train/checkpoint/copies.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "model/gpu/out_of_memory.h"

namespace tutti {

std::vector<Parameter> copies(const std::vector<Parameter>& tensors) {
  const c10::AutoGradMode no_gradients(false);
  std::vector<Parameter> made;
  for (const auto& tensor : tensors)
    made.push_back({tensor.name, tensor.value.detach().to(at::kCPU, /*non_blocking=*/false, /*copy=*/true)});
  return made;
}

Result<void> write_copies(const std::string& what, const std::function<Result<void>()>& write) {
  try {
    return write();
  } catch (const std::exception& problem) {
    if (!is_out_of_memory(problem)) throw;
    return tl::unexpected(failure_of(problem, what + " could not be copied to be written",
                                     "The newest checkpoint is whole: go on with --resume where there is more memory"));
  }
}

}  // namespace tutti
