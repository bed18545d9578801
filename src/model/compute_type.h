#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace tutti {

/// What a network computes in.
class ComputeType {
 public:
  enum Kind : std::uint8_t {
    float32,
    tf32,  // on a GPU: float32, the inputs of products rounded to ten bits
    bfloat16,
    float16,
    int8,          // on a CPU: what a decoder step reads, weights scaled per output, rows each by itself; the rest in
                   // bfloat16, or int16 where the processor does not multiply that (model/weights.cpp)
    int8_float16,  // the same for a GPU, the rest in float16
  };

  constexpr ComputeType(Kind kind) : kind_(kind) {}  // NOLINT: the names above are compute types
  /// float32, bfloat16 or float16.
  ComputeType(at::ScalarType type);  // NOLINT

  static std::optional<ComputeType> named(std::string_view name);
  std::string_view name() const;
  Kind kind() const { return kind_; }
  bool scales_to_int8() const { return kind_ == int8 || kind_ == int8_float16; }
  bool keeps_float32() const { return kind_ == float32 || kind_ == tf32; }
  bool operator==(const ComputeType&) const = default;

 private:
  Kind kind_;
};

/// How a network of some compute type is laid out on a device.
struct Layout {
  bool own_kernels = false;                 // on a CPU: packed weights and the kernels of model/cpu; otherwise torch
  at::ScalarType activations = at::kFloat;  // between operators
  at::ScalarType cache = at::kFloat;        // keys and values
  bool byte_cross = false;                  // those of windows in eight bits: ByteKv of own kernels, else ByteHeads
};

/// Own kernels on a CPU with AVX2 for float32, bfloat16 and int8; their activations are float32. Torch for everything
/// else; on a CPU a type for GPUs has float32 activations, so that its path can be checked there.
Layout layout_of(ComputeType type, at::Device device);

}  // namespace tutti
