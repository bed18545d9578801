#pragma once

#include <cstdint>

#include "base/instruction_sets.h"

namespace tutti {

/// One head of one query: out = softmax(scale * q keys^T) values, in float32 whatever the keys' type.
template <class T>
struct OneRowAttention {
  static constexpr std::int64_t kHeadSize = 64;  // in every Whisper model that OpenAI has published

  const float* q = nullptr;   // [64]
  const T* keys = nullptr;    // [length, 64]; uint16_t holds bfloat16
  const T* values = nullptr;  // [length, 64]
  float* out = nullptr;       // [64]
  std::int64_t length = 0;
  float scale = 1;

  /// Floats of scratch memory a job of `length` needs.
  static std::int64_t scratch_size(std::int64_t length) { return (length + 15) / 16 * 16; }
};

/// One job, with the instructions that the function is named after.
void attend_bf16(const OneRowAttention<std::uint16_t>& job, float* scratch);
void attend_avx512(const OneRowAttention<float>& job, float* scratch);
void attend_avx512(const OneRowAttention<std::uint16_t>& job, float* scratch);
void attend_avx2(const OneRowAttention<float>& job, float* scratch);
void attend_avx2(const OneRowAttention<std::uint16_t>& job, float* scratch);

/// One job, with the best of these for some sets of instructions, which the processor must have.
template <class T>
void attend_by(const InstructionSets& sets, const OneRowAttention<T>& job, float* scratch) {
  if constexpr (sizeof(T) == sizeof(std::uint16_t)) {
    if (sets.has(Instructions::bf16)) return attend_bf16(job, scratch);
  }
  sets.has(Instructions::avx512) ? attend_avx512(job, scratch) : attend_avx2(job, scratch);
}

}  // namespace tutti
