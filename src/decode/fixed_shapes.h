#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "decode/stepper.h"
#include "hub/memory_plan.h"

namespace tutti {

/// A stepper that gives the network the same shapes whatever is requested: prompts one at a time, single tokens in
/// groups of `kRows`, the last group filled up with rows that are not read. Matrix kernels are chosen by shape, and
/// another kernel may round otherwise: with fixed shapes a sequence's logits are the same to the last bit beside any
/// neighbours, in any batch and order. The price is the filling, and that a prompt does not share its call.
class FixedShapeStepper : public Stepper {
 public:
  /// Rows of one call: what a CPU computes for little more than one, and few enough that half-empty groups stay cheap.
  static constexpr std::int32_t kRows = kFixedRows;

  /// inner: with kRows slots more than this one is to have.
  explicit FixedShapeStepper(std::unique_ptr<Stepper> inner);

  std::int32_t slots() const override { return inner_->slots() - kRows; }
  at::Tensor decode(std::span<const SequenceStep> sequences) override;
  /// However many sequences step, calls are of kRows.
  std::int32_t prepare(const CrossKv& window, std::int32_t, std::int32_t) override {
    return inner_->prepare(window, kRows, kRows);
  }
  void copy_slot(std::int32_t from, std::int32_t to, std::int32_t first, std::int32_t count) override;

 private:
  at::Tensor decode_group(std::span<const SequenceStep> steps);

  std::unique_ptr<Stepper> inner_;
};

}  // namespace tutti
