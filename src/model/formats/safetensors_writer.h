#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/owned.h"
#include "model/formats/stored_tensor.h"

namespace tutti {

/// What a tensor is called and its layout in the file.
struct TensorPlan {
  std::string name{};
  ElementType type = ElementType::f32;
  std::vector<std::int64_t> shape{};
};

/// Writes a safetensors file from front to back, one tensor at a time, so that no more than one is in memory. One
/// thread at a time.
class SafetensorsWriter {
 public:
  /// Writes the header for `tensors`, in this order, to `fd`, an empty file open for writing that outlives the writer.
  /// `thing` names the file in errors. Throws std::invalid_argument for a type or shape that the format does not have.
  static Result<SafetensorsWriter> start(int fd, std::vector<TensorPlan> tensors, std::string thing);

  /// Bytes of the whole file.
  std::uint64_t size() const { return size_; }

  /// The next tensor's bytes. Throws std::invalid_argument where they are not as many as planned.
  Result<void> add(std::span<const std::byte> bytes);

  /// Flushes to disk. Throws std::logic_error where tensors are still to come.
  Result<void> finish();

 private:
  SafetensorsWriter(int fd, std::vector<TensorPlan> tensors, std::string thing)
      : fd_(fd), tensors_(std::move(tensors)), thing_(std::move(thing)) {}

  int fd_;
  std::vector<TensorPlan> tensors_;
  std::string thing_;
  std::uint64_t size_ = 0;
  std::size_t next_ = 0;
};

}  // namespace tutti
