#include "feed/buffers.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <new>

#include "base/guarded.h"

namespace tutti {
namespace {

constexpr std::size_t kAlignment = 64;

class OrdinaryMemory final : public HostMemory {
 public:
  void* allocate(std::size_t bytes) override {
    void* memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
    if (!memory) throw std::bad_alloc();
    return memory;
  }
  void release(void* memory, std::size_t) noexcept override { std::free(memory); }
};

}  // namespace

std::shared_ptr<HostMemory> HostMemory::ordinary() {
  static const auto memory = std::make_shared<OrdinaryMemory>();
  return memory;
}

/// Buffers nobody holds, by the floats they have room for. Held by the pool and by every buffer that is out.
struct BufferPool::Shelf {
  explicit Shelf(std::shared_ptr<HostMemory> from) : memory(std::move(from)) {}
  Shelf(const Shelf&) = delete;
  Shelf& operator=(const Shelf&) = delete;
  ~Shelf() {
    for (const auto& [room, floats] : free.with([](auto& all) { return std::move(all); }))
      memory->release(floats, room * sizeof(float));
  }

  static constexpr std::size_t kMostFree = 16;  // shapes change: what nobody wants any more must go

  void put_back(float* floats, std::size_t room) {
    std::multimap<std::size_t, float*> dropped;
    free.with([&](auto& all) {
      all.emplace(room, floats);
      if (all.size() > kMostFree) dropped.insert(all.extract(all.begin()));
    });
    for (const auto& [size, old] : dropped) memory->release(old, size * sizeof(float));
  }

  std::shared_ptr<HostMemory> memory;
  Guarded<std::multimap<std::size_t, float*>> free;
};

BufferPool::BufferPool(std::shared_ptr<HostMemory> memory) : shelf_(std::make_shared<Shelf>(std::move(memory))) {}

HostBuffer BufferPool::take(std::size_t floats) {
  std::size_t room = std::max<std::size_t>(floats, 1);
  float* found = shelf_->free.with([&](auto& all) -> float* {
    const auto it = all.lower_bound(room);
    if (it == all.end() || it->first > 2 * room) return nullptr;
    room = it->first;
    float* const taken = it->second;
    all.erase(it);
    return taken;
  });
  if (!found) {
    room += room / 8;  // the next batch of this kind is likely a little longer
    found = static_cast<float*>(shelf_->memory->allocate(room * sizeof(float)));
  }
  HostBuffer buffer;
  buffer.floats_ = {found, [shelf = shelf_, room](float* memory) { shelf->put_back(memory, room); }};
  buffer.size_ = floats;
  return buffer;
}

}  // namespace tutti
