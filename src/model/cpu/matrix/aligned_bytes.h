#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace tutti {

/// Memory that starts at a cache line, not initialised.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(std::size_t size)
      : data_(static_cast<std::byte*>(std::aligned_alloc(kLine, (size + kLine - 1) / kLine * kLine))), size_(size) {
    if (!data_) throw std::bad_alloc();
  }
  std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_.get());
  }

 private:
  static constexpr std::size_t kLine = 64;
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  std::unique_ptr<std::byte, Free> data_{};
  std::size_t size_ = 0;
};

}  // namespace tutti
