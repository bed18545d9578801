#include "model/gpu.h"

namespace tutti::gpu {
namespace {

tl::unexpected<Error> no_device(int index) {
  return fail(Fault::missing, "cuda:" + std::to_string(index) + ": this engine was built without CUDA",
              "Use --device cpu, or build where nvcc is found");
}

}  // namespace

int count() {
  return 0;
}

Result<Facts> facts(int index) {
  return no_device(index);
}

Result<Memory> memory(int index) {
  return no_device(index);
}

void synchronize(int /*index*/) {}

void release_cached_memory() {}

}  // namespace tutti::gpu
