#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/owned.h"

namespace tutti {

/// An array of floats in memory that cannot be changed or resized any more: a memfd, sealed. It has no name and is in
/// no file system; it is gone with its last descriptor and mapping, whatever kills us.
class SharedWindow {
 public:
  /// Copies `values` (at least one) in and seals. Fault::exhausted when memory or descriptors have run out.
  static Result<SharedWindow> create(std::span<const float> values);

  int fd() const { return memory_.get(); }

 private:
  explicit SharedWindow(OwnedFd memory) : memory_(std::move(memory)) {}
  OwnedFd memory_;
};

/// The receiver's read-only view of a SharedWindow.
class WindowView {
 public:
  /// Maps `memory`, which must be sealed against writing and resizing (else the sender could change it while we read,
  /// or make us crash by cutting it) and hold exactly `expected` floats. Fault::corrupt names what it found instead.
  static Result<WindowView> map(OwnedFd memory, std::size_t expected);

  WindowView(WindowView&& other) noexcept : values_(std::exchange(other.values_, {})) {}
  WindowView& operator=(WindowView&& other) noexcept {
    std::swap(values_, other.values_);
    return *this;
  }
  ~WindowView();

  std::span<const float> values() const { return values_; }

 private:
  explicit WindowView(std::span<const float> values) : values_(values) {}
  std::span<const float> values_;
};

}  // namespace tutti
