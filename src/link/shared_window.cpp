#include "link/shared_window.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <string>

#include "base/error.h"
#include "base/files.h"

namespace tutti {
namespace {

constexpr const char* kThing = "shared window";  // in errors
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

/// It is memory that ran out, whatever the system calls that.
Error of_memory(Error error) {
  if (error.fault == Fault::full) error.fault = Fault::exhausted;
  return error;
}

}  // namespace

Result<SharedWindow> SharedWindow::create(std::span<const float> values) {
  if (values.empty()) return fail(Fault::internal, "shared window: expected at least one value, found none");
  OwnedFd memory(::memfd_create("tutti-window", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) return fail_errno(kThing, "could not be made");
  if (auto written = write_all(memory.get(), std::as_bytes(values), kThing); !written)
    return tl::unexpected<Error>(of_memory(written.error()));
  if (::fcntl(memory.get(), F_ADD_SEALS, kSeals) != 0) return fail_errno(kThing, "could not be sealed");
  return SharedWindow(std::move(memory));
}

Result<WindowView> WindowView::map(OwnedFd memory, std::size_t expected) {
  if (!memory) return fail(Fault::corrupt, "shared window: expected a descriptor beside the message, found none");
  // Seals first: only a sealed memory keeps the size that is read next.
  const int seals = ::fcntl(memory.get(), F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals)
    return fail(Fault::corrupt, "shared window: expected a memfd sealed against every change, found seals " +
                                    std::to_string(seals) + " of " + std::to_string(kSeals));
  struct stat facts {};
  if (::fstat(memory.get(), &facts) != 0) return fail_errno(kThing, "cannot be examined");
  const std::size_t bytes = expected * sizeof(float);
  if (expected == 0 || facts.st_size < 0 || static_cast<std::size_t>(facts.st_size) != bytes)
    return fail(Fault::corrupt,
                "shared window: expected " + std::to_string(bytes) + " bytes, found " + std::to_string(facts.st_size));
  // MAP_PRIVATE: kernels before 6.7 refuse a shared mapping of write-sealed memory, even a read-only one.
  void* at = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, memory.get(), 0);
  if (at == MAP_FAILED) return fail_errno(kThing, "cannot be mapped");
  return WindowView({static_cast<const float*>(at), expected});
}

WindowView::~WindowView() {
  if (!values_.empty()) ::munmap(const_cast<float*>(values_.data()), values_.size_bytes());
}

}  // namespace tutti
