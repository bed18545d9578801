#include "model/cpu/large_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace tutti {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kHugePage = 2 << 20;

}  // namespace

std::byte* allocate_large(std::size_t size) {
  const auto alignment = size >= kHugePage ? kHugePage : kLine;
  void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (!memory) throw std::bad_alloc();
  // A wish: without huge pages it is ordinary memory.
  if (alignment == kHugePage) ::madvise(memory, (size + kHugePage - 1) / kHugePage * kHugePage, MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

}  // namespace tutti
