#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/decoder_step/jobs.h"
#include "model/state.h"

namespace tutti {

/// Rows of the smallest step that holds so many sequences: 1, 2, 4, 8, 16, 24, 32, 48, 64, then multiples of 32. Never
/// more than half of it is padding, from eight on a third.
std::int32_t bucket_for(std::int32_t rows);

/// Where the inputs of a step lie in one block of bytes, on the host and on the device alike.
struct StepInputs {
  std::int32_t rows = 0;  // a bucket's
  std::int32_t layers = 0;

  /// KvRow [rows] of a decoder layer.
  std::int64_t self(std::int64_t layer) const { return layer * table(); }
  std::int64_t cross(std::int64_t layer) const { return (layers + layer) * table(); }
  /// int32 [rows] each.
  std::int64_t tokens() const { return 2 * layers * table(); }
  std::int64_t positions() const { return tokens() + rows * 4; }
  std::int64_t slots() const { return positions() + rows * 4; }
  /// SharedRows [rows], of the windows.
  std::int64_t shared() const { return (slots() + rows * 4 + 7) / 8 * 8; }
  std::int64_t size() const { return shared() + rows * static_cast<std::int64_t>(sizeof(SharedRows)); }

 private:
  std::int64_t table() const { return rows * static_cast<std::int64_t>(sizeof(KvRow)); }
};

/// Writes the inputs of a step to `block`, StepInputs::size() bytes: a row for each token of the plan. A row sees its
/// slot up to its own position, and all rows append before any of them looks: so tokens of one prompt are rows side by
/// side. Rows without a token are padding: they append to the last slot of `cache`, which no sequence has, and look at
/// one position of it and of the first sequence's window. Neighbours that see the same window share it. cache: on the
/// device; its pointers and the windows' are written, not what they point to.
void write_inputs(const StepInputs& inputs, const DecodePlan& plan, std::span<const SequenceStep> sequences,
                  const SelfKv& cache, std::byte* block);

}  // namespace tutti
