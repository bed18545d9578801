#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "model/cpu/large_memory.h"

namespace tutti {

/// Memory that starts at a cache line, not initialised (allocate_large).
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(std::size_t size) : data_(allocate_large(size)), size_(size) {}
  std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_.get());
  }

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  std::unique_ptr<std::byte, Free> data_{};
  std::size_t size_ = 0;
};

}  // namespace tutti
