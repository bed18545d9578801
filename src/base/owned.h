#pragma once

#include <unistd.h>

#include <utility>

namespace tutti {

/// Deleter for C handles: `std::unique_ptr<SNDFILE, FreeWith<sf_close>>`.
template <auto free_fn>
struct FreeWith {
  template <class T>
  void operator()(T* handle) const noexcept {
    free_fn(handle);
  }
};

/// A file descriptor with one owner; closed when the owner goes.
class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~OwnedFd() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace tutti
