#pragma once

#include <cstddef>
#include <memory>

namespace tutti {

class BufferPool;

/// Floats from a pool, aligned to 64 bytes. Copies share them, and the last one to go returns them to it. Contents are
/// whatever was there before.
class HostBuffer {
 public:
  HostBuffer() = default;

  float* data() { return floats_.get(); }
  const float* data() const { return floats_.get(); }
  std::size_t size() const { return size_; }

 private:
  friend class BufferPool;
  std::shared_ptr<float> floats_{};
  std::size_t size_ = 0;
};

/// Recycles the buffers of batches: in the steady state nothing is allocated. Thread-safe; buffers may outlive the
/// pool.
class BufferPool {
 public:
  BufferPool();

  /// At least `floats` of them; the smallest free buffer that is large enough and wastes at most half of itself. Throws
  /// std::bad_alloc.
  HostBuffer take(std::size_t floats);

 private:
  struct Shelf;
  std::shared_ptr<Shelf> shelf_;
};

}  // namespace tutti
