#include "train/step_memory.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <new>

namespace tutti {
namespace {

constexpr std::size_t kLine = 64;  // a block's own line stands before the data, which is aligned as torch's
constexpr std::size_t kSlack = 8;  // a block is taken for what needs an eighth less

/// Up to an eighth more, so that batches of nearly equal length find each other's blocks. Pages nobody writes to cost
/// nothing.
std::size_t rounded(std::size_t bytes) {
  const auto part = std::bit_floor(bytes) / kSlack;
  return (bytes + part - 1) / part * part;
}

}  // namespace

struct StepMemory::Block {
  StepMemory* owner;
  std::size_t size;  // of the data behind this line

  void* data() { return reinterpret_cast<std::byte*>(this) + kLine; }
  static Block* of(void* data) { return reinterpret_cast<Block*>(static_cast<std::byte*>(data) - kLine); }
};

StepMemory::~StepMemory() {
  free_kept_beyond(0);
}

c10::DataPtr StepMemory::allocate(std::size_t bytes) {
  void* data = nullptr;
  if (bytes > 0) data = (bytes < kSmallestKept ? fresh(bytes) : take(rounded(bytes)))->data();
  return {data, data, &give_back, c10::Device(c10::DeviceType::CPU)};
}

c10::DeleterFnPtr StepMemory::raw_deleter() const {
  return &give_back;
}

void StepMemory::copy_data(void* to, const void* from, std::size_t bytes) const {
  default_copy_data(to, from, bytes);
}

StepMemory::Held StepMemory::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

void StepMemory::give_back(void* data) {
  if (!data) return;
  Block* block = Block::of(data);
  if (block->size < kSmallestKept)
    c10::free_cpu(block);
  else
    block->owner->keep(block);
}

StepMemory::Block* StepMemory::fresh(std::size_t size) {
  return new (c10::alloc_cpu(kLine + size)) Block{this, size};
}

StepMemory::Block* StepMemory::take(std::size_t size) {
  const std::lock_guard lock(mutex_);
  Block* block = nullptr;
  if (const auto found = kept_.lower_bound(size); found != kept_.end() && found->first <= size + size / kSlack) {
    block = found->second;
    kept_.erase(found);
    held_.kept -= block->size;
  } else {
    // What is new takes the place of what is kept, not room beside it.
    const auto used = held_.used + size;
    free_kept_beyond(held_.most > used ? held_.most - used : 0);
    try {
      block = fresh(size);
    } catch (const c10::Error&) {
      free_kept_beyond(0);
      held_.most = held_.used;
      block = fresh(size);
    }
  }
  held_.used += block->size;
  held_.most = std::max(held_.most, held_.used);
  return block;
}

void StepMemory::keep(Block* block) {
  const std::lock_guard lock(mutex_);
  held_.used -= block->size;
  held_.kept += block->size;
  kept_.emplace(block->size, block);
}

/// The largest first: few are freed so, and what was too large for this request is likely too large for the next.
void StepMemory::free_kept_beyond(std::size_t bytes) {
  while (held_.kept > bytes) {
    const auto last = std::prev(kept_.end());
    held_.kept -= last->first;
    c10::free_cpu(last->second);
    kept_.erase(last);
  }
}

void keep_step_memory() {
  static auto* const memory = new StepMemory;  // for as long as the process: tensors outlive every scope
  c10::SetCPUAllocator(memory);
}

}  // namespace tutti
