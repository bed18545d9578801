#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "decode/sequence.h"
#include "model/decoder_step/step_device.h"

namespace tutti {

/// Logits of a decoder step and which of their rows belong to whom.
struct StepRows {
  at::Tensor logits{};                     // [rows, n_vocab] float32, on any device; not changed
  std::span<const std::int64_t> newest{};  // by sequence: the row after its newest token
  std::span<const std::int64_t> at_sot{};  // by sequence: the row after start-of-transcript; -1: none in this step
};

/// Selects the tokens of a step where its logits are, for all sequences together: the rules as masks, choices and sums
/// by one kernel, and where a sequence draws its token by torch's operators. Some dozen numbers of each come to the
/// host and not its whole vocabulary. The result is that of `select_token` for each by itself; only the last bits of
/// sums differ, and what they decide.
class DeviceTokenSelector {
 public:
  /// live: not empty. Waits for the device, once, at the end. Throws what torch throws.
  std::vector<Selection> select_tokens(const StepRows& step, std::span<const Sequence> live,
                                       const DecodingTokens& tokens);

 private:
  struct HostInputs;
  struct There;

  /// What forbids the same ids whatever was decoded before.
  struct Mask {
    std::vector<std::int32_t> suppress{};
    bool blank = false;
    bool timestamps = false;

    bool operator==(const Mask&) const = default;
  };

  HostInputs host_inputs(const StepRows& step, std::span<const Sequence> live, const DecodingTokens& tokens);
  std::optional<at::Tensor> find_by_kernel(const at::Tensor& logits, const at::Tensor& columns, std::int64_t likeliest,
                                           std::int32_t timestamp_begin, std::int32_t no_speech);
  std::vector<at::Tensor> find_by_operators(const at::Tensor& logits, const There& there, const HostInputs& inputs,
                                            std::int32_t timestamp_begin);
  std::int32_t mask_for(const Sequence& sequence, const DecodingTokens& tokens, const at::Tensor& logits);

  std::vector<Mask> known_{};
  at::Tensor masks_{};      // [known_, n_vocab] int32 on the logits' device: other than 0 where forbidden
  at::Tensor positions_{};  // [n_vocab] int32: 0, 1, 2, ...
  at::Tensor staging_{};
  bool has_kernel_ = !excludes_step_kernels();
};

}  // namespace tutti
