#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "decode/device_token_selector.h"
#include "decode/sequence.h"
#include "decode/stepper.h"

namespace tutti {

/// The logits of one decoder step, as the live sequences see them.
class StepLogits {
 public:
  /// Moves every sequence of `live` on by what is pending. Samples of one request that enter together are prefilled
  /// once: the others get a copy of the first one's cache. stay: the logits stay where they are computed; then nothing
  /// but `rows` may be called.
  StepLogits(Stepper& stepper, std::span<const Sequence> live, bool stay);

  /// All of it, where it is.
  StepRows rows() const { return {logits_, rows_, sot_rows_}; }

  std::int64_t n_vocab() const { return logits_.size(1); }
  /// After the newest token of the i-th sequence: [n_vocab], its own to change.
  std::span<float> newest(std::size_t i);
  /// After the start-of-transcript token of the i-th sequence, where it was prefilled in this step; else empty. May be
  /// the same row as `newest`.
  std::span<const float> at_sot(std::size_t i) const;

 private:
  using Prefilled = std::map<const RequestProgress*, std::size_t>;  // which sequence prefilled its request

  void share_prefills(Stepper& stepper, std::span<const Sequence> live, const Prefilled& prefilled, bool stay);
  std::span<float> row(std::int64_t index) const;

  at::Tensor logits_{};                       // [rows, n_vocab]
  std::vector<std::int64_t> rows_{};          // row of the newest token, by sequence
  std::vector<std::int64_t> sot_rows_{};      // row of the start-of-transcript token; -1 where none was computed
  std::vector<std::vector<float>> copies_{};  // by sequence: rows that another one changes; empty for all others
};

}  // namespace tutti
