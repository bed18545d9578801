#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/guarded.h"
#include "base/owned.h"
#include "link/messages.h"
#include "link/shared_window.h"

namespace tutti {

/// A buffer of a MelRing, by its index; free again with its last owner.
using MelBuffer = std::shared_ptr<const std::int64_t>;

/// A window's log-mel as it waits for the encoder.
struct WindowMel {
  WindowView values;  // as it came: the control side's memory, so keeping it costs nothing
  std::int32_t frames = 0;
  std::int32_t width = 0;  // frames that the encoder gets: what is missing are zeros
  MelBuffer buffer{};      // where it is ready for the encoder; null: nowhere
};

/// The log-mels of windows that wait for the encoder, as it takes them: padded with zeros and in its type, in memory
/// that is taken once. The thread that receives a window fills its buffer, so that the one that computes has only to
/// upload. Windows that follow each other are side by side, so that a batch of them is one upload. Thread-safe.
class MelRing {
 public:
  /// buffers: [windows, n_mels, 2 * n_audio_ctx] of any floating type on the CPU, pinned where a GPU copies from it; of
  /// 0 windows: none is made ready. Where it is float32 that is not pinned, a window of all frames is ready as it came.
  /// takes_short: whether the encoder takes windows of fewer positions where OpenWindow permits it. These are made
  /// ready as they are encoded.
  explicit MelRing(at::Tensor buffers, bool takes_short = false);

  /// The window beside that message, made ready where a buffer is free. Fault::usage for a shape that the network does
  /// not take or a window without memory, else as WindowView::map. Enqueues nothing and calls no driver.
  Result<WindowMel> receive(const OpenWindow& message, OwnedFd memory);

  /// These mels of one width, [windows, n_mels, width], where they are ready side by side in that order; until the
  /// first of their buffers is free again. Nothing is copied.
  std::optional<at::Tensor> side_by_side(std::span<const WindowMel* const> mels) const;

  /// Writes one to `to`, [n_mels, width], ready or not.
  void write(const WindowMel& mel, const at::Tensor& to) const;

 private:
  struct Taken {
    std::vector<bool> buffers{};
    std::size_t next = 0;
  };

  MelBuffer take() const;
  bool ready_as_it_came(const WindowMel& mel) const;

  at::Tensor buffers_;
  bool plain_;  // float32, not pinned
  bool takes_short_;
  std::shared_ptr<Guarded<Taken>> taken_;
};

}  // namespace tutti
