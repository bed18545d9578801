#pragma once

#include "model/gpu.h"

namespace tutti::gpu {

/// What a CUDA part gives: the calls of gpu.h, made only for devices below count().
struct Part {
  int (*count)();
  Facts (*facts)(int index);
  Memory (*memory)(int index);
  void (*synchronize)(int index);
  void (*release_cached_memory)();
  void (*limit_memory)(int index, double share);
  bool (*can_access)(int index, int peer);
  const StepKernels* (*step_kernels)();
  Stream (*current_stream)(int index);
  std::shared_ptr<StepRecorder> (*make_recorder)(int index, Urgency urgency);
  void (*use_urgent_stream)(int index);
  std::shared_ptr<SideStream> (*make_side_stream)(int index);
  std::string (*card_sum_key)();
  std::shared_ptr<CardSum> (*make_card_sum)(int index, const std::string& key, int rank, int ranks);
};

/// The one function that libtutti-cuda.so exports; its name to dlsym, and its type. What a part's calls throw is
/// torch's.
inline constexpr const char* kPartEntry = "tutti_cuda_part";
using PartEntry = const Part*();

}  // namespace tutti::gpu
