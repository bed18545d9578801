#include "feed/buffers.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "base/guarded.h"

namespace tutti {
namespace {

constexpr std::align_val_t kAlignment{64};

/// By operator new: its handler may free memory.
float* new_floats(std::size_t count) {
  return static_cast<float*>(::operator new(count * sizeof(float), kAlignment));
}

void free_floats(float* floats) {
  ::operator delete(floats, kAlignment);
}

}  // namespace

/// Buffers that are not in use. Held by the pool and by every buffer that is out.
struct BufferPool::Shelf {
  struct Free {
    float* floats = nullptr;
    std::size_t space = 0;  // floats
  };

  Shelf() {
    free.with([](auto& all) { all.reserve(kMostFree + 1); });  // releasing a buffer takes no memory
  }
  Shelf(const Shelf&) = delete;
  Shelf& operator=(const Shelf&) = delete;
  ~Shelf() {
    for (const Free& it : free.with([](auto& all) { return std::move(all); })) free_floats(it.floats);
  }

  static constexpr std::size_t kMostFree = 16;  // shapes change: what is not used any more must go

  /// The smallest that is large enough and wastes at most half of itself.
  std::optional<Free> take(std::size_t floats) {
    return free.with([&](std::vector<Free>& all) -> std::optional<Free> {
      auto best = all.end();
      for (auto it = all.begin(); it != all.end(); ++it)
        if (it->space >= floats && it->space <= 2 * floats && (best == all.end() || it->space < best->space)) best = it;
      if (best == all.end()) return std::nullopt;
      const Free found = *best;
      all.erase(best);
      return found;
    });
  }

  /// The one that has waited longest goes where there are too many.
  void put_back(const Free& buffer) {
    std::optional<Free> dropped;
    free.with([&](std::vector<Free>& all) {
      all.push_back(buffer);
      if (all.size() <= kMostFree) return;
      dropped = all.front();
      all.erase(all.begin());
    });
    if (dropped) free_floats(dropped->floats);
  }

  Guarded<std::vector<Free>> free;  // in the order they came back
};

BufferPool::BufferPool() : shelf_(std::make_shared<Shelf>()) {}

HostBuffer BufferPool::take(std::size_t floats) {
  const std::size_t least = std::max<std::size_t>(floats, 1);
  auto taken = shelf_->take(least);
  if (!taken) {
    const std::size_t space = least + least / 8;  // the next batch of this kind is likely a little longer
    taken = Shelf::Free{new_floats(space), space};
  }
  HostBuffer buffer;
  buffer.floats_ = {taken->floats, [shelf = shelf_, space = taken->space](float* it) { shelf->put_back({it, space}); }};
  buffer.size_ = floats;
  return buffer;
}

}  // namespace tutti
