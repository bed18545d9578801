#pragma once

#include <cstddef>
#include <memory>

namespace tutti {

/// Where the buffers of batches come from. The default is ordinary memory; a trainer on a GPU gives pinned memory, so
/// that copies to the device overlap with its work. Thread-safe.
class HostMemory {
 public:
  virtual ~HostMemory() = default;
  /// Memory for `bytes`, aligned to 64. Throws std::bad_alloc.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory, std::size_t bytes) noexcept = 0;

  /// Ordinary memory; lives for the whole process.
  static std::shared_ptr<HostMemory> ordinary();
};

class BufferPool;

/// Floats with one owner, from a pool; letting go gives them back to it. Contents are whatever was there before.
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

/// Recycles the buffers of batches: in the steady state nothing is allocated, and pinned memory is pinned once.
/// Thread-safe; buffers may outlive the pool.
class BufferPool {
 public:
  explicit BufferPool(std::shared_ptr<HostMemory> memory);

  /// At least `floats` of them; the smallest free buffer that has room and wastes at most half of itself.
  HostBuffer take(std::size_t floats);

 private:
  struct Shelf;
  std::shared_ptr<Shelf> shelf_;
};

}  // namespace tutti
