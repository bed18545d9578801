#include "train/optimiser_step/step_memory.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "base/field_names.h"
#include "base/log.h"
#include "base/numbers.h"
#include "model/device_name.h"
#include "model/gpu.h"

namespace tutti {
namespace {

constexpr std::size_t kLine = 64;   // a block's own line is before the data, which is aligned as torch's
constexpr int kSmallestPower = 16;  // kSmallestKept as a power of two
constexpr int kPartBits = 3;
constexpr auto kParts = std::size_t{1} << kPartBits;  // sizes from a power of two to the next

/// The least size, by its number, that holds so many bytes: up to an eighth more, so that batches of nearly equal
/// length find each other's blocks. Pages that are never written to cost nothing.
std::size_t number_for(std::size_t bytes) {
  const auto power = std::bit_width(bytes) - 1;
  const auto part = std::size_t{1} << (power - kPartBits);
  const auto parts = (bytes - (std::size_t{1} << power) + part - 1) / part;
  return static_cast<std::size_t>(power - kSmallestPower) * kParts + parts;
}

std::size_t size_of(std::size_t number) {
  return (kParts + number % kParts) << (number / kParts + kSmallestPower - kPartBits);
}

/// Whole megabytes; what is less than one, as it is.
std::string memory_text(Bytes bytes) {
  return bytes.value < 1'000'000 ? bytes_text(bytes) : megabytes_text(bytes);
}

constexpr std::int64_t kCopiesOfTrained = 3;  // the gradient and AdamW's two averages

Bytes size_of(const std::vector<Parameter>& tensors) {
  std::size_t bytes = 0;
  for (const auto& tensor : tensors) bytes += tensor.value.nbytes();
  return Bytes{static_cast<std::int64_t>(bytes)};
}

thread_local int outside_limit = 0;             // how many OutsideMemoryLimit this thread has
thread_local StepMemory* own_memory = nullptr;  // of this thread's tensors; null: that of the steps

StepMemory& step_memory() {
  static auto* const memory = new StepMemory;  // for as long as the process: tensors outlive every scope
  return *memory;
}

StepMemory& data_memory() {
  static auto* const memory = new StepMemory("data-gpu-memory");
  return *memory;
}

bool free_all_kept() {
  const bool from_steps = step_memory().free_kept();
  return data_memory().free_kept() || from_steps;
}

/// `name`: of the setting.
Result<void> limit_gpu(const char* name, at::Device device, Bytes most) {
  if (auto limited = gpu::limit_memory(index_of(device), most); !limited) return limited;
  log(Level::info, std::string(name) + ": tensors take at most " + memory_text(most) + " of " + device.str() +
                       "; the CUDA context, and what cuDNN and cuBLAS take for themselves, lie outside");
  return {};
}

Bytes bytes_of(double megabytes) {
  return Bytes{static_cast<std::int64_t>(1e6 * megabytes)};
}

}  // namespace

struct StepMemory::Block {
  StepMemory* owner;  // null: it counts nowhere, and is not kept
  std::size_t size;   // bytes of data behind this line
  Block* next;        // next unused block

  void* data() { return reinterpret_cast<std::byte*>(this) + kLine; }
  static Block* of(void* data) { return reinterpret_cast<Block*>(static_cast<std::byte*>(data) - kLine); }
};

/// A block of that size, or an eighth larger; none where there is none.
StepMemory::Block* StepMemory::Shelf::take(std::size_t number) {
  for (auto it = number; it < std::min(number + 2, kSizes); ++it) {
    if (!free[it]) continue;
    Block* const block = free[it];
    free[it] = block->next;
    held.kept -= block->size;
    return block;
  }
  return nullptr;
}

void StepMemory::Shelf::keep(Block* block) {
  auto& first = free[number_for(block->size)];
  block->next = std::exchange(first, block);
  held.kept += block->size;
}

void StepMemory::Shelf::throw_beyond(const char* name, std::size_t bytes) const {
  C10_THROW_ERROR(OutOfMemoryError, std::string(name) + " of " + memory_text(Bytes{static_cast<std::int64_t>(limit)}) +
                                        ": " + memory_text(Bytes{static_cast<std::int64_t>(held.used + elsewhere)}) +
                                        " are in use, and a tensor needs " +
                                        memory_text(Bytes{static_cast<std::int64_t>(bytes)}) + " more");
}

/// Few are freed so, and what was too large for this request is likely too large for the next.
StepMemory::Block* StepMemory::Shelf::remove_beyond(std::size_t bytes) {
  Block* list = nullptr;
  for (auto it = kSizes; it-- > 0;)
    while (free[it] && held.kept > bytes) {
      Block* const block = free[it];
      free[it] = block->next;
      held.kept -= block->size;
      block->next = std::exchange(list, block);
    }
  return list;
}

StepMemory::~StepMemory() {
  free_kept();
}

c10::DataPtr StepMemory::allocate(std::size_t bytes) {
  if (own_memory && own_memory != this) return own_memory->allocate(bytes);
  void* data = nullptr;
  const bool is_counted = bytes >= kSmallestKept && outside_limit == 0;
  if (bytes > 0) data = (is_counted ? take(bytes) : uncounted(bytes))->data();
  return {data, data, &release, c10::Device(c10::DeviceType::CPU)};
}

c10::DeleterFnPtr StepMemory::raw_deleter() const {
  return &release;
}

void StepMemory::copy_data(void* to, const void* from, std::size_t bytes) const {
  default_copy_data(to, from, bytes);
}

bool StepMemory::free_kept() {
  Block* const all = shelf_.with([](Shelf& shelf) {
    shelf.held.most = shelf.held.used;
    return shelf.remove_beyond(0);
  });
  free_all(all);
  return all != nullptr;
}

void StepMemory::limit(std::size_t most, std::size_t elsewhere) {
  shelf_.with([=](Shelf& shelf) {
    shelf.limit = most;
    shelf.elsewhere = std::min(elsewhere, most);
  });
}

StepMemory::Held StepMemory::held() const {
  return shelf_.with([](const Shelf& shelf) { return shelf.held; });
}

void StepMemory::release(void* data) {
  if (!data) return;
  Block* const block = Block::of(data);
  if (!block->owner) return c10::free_cpu(block);
  block->owner->shelf_.with([block](Shelf& shelf) {
    shelf.held.used -= block->size;
    shelf.keep(block);
  });
}

void StepMemory::free_all(Block* list) {
  while (list) c10::free_cpu(std::exchange(list, list->next));
}

StepMemory::Block* StepMemory::uncounted(std::size_t size) {
  Block* const block = fresh(size);
  block->owner = nullptr;
  return block;
}

StepMemory::Block* StepMemory::fresh(std::size_t size) {
  return new (c10::alloc_cpu(kLine + size)) Block{this, size, nullptr};
}

StepMemory::Block* StepMemory::take(std::size_t bytes) {
  const auto number = number_for(bytes);
  if (number >= Shelf::kSizes) return fresh(bytes);  // fails: no address space is as large
  Block* dropped = nullptr;
  Block* const found = shelf_.with([&](Shelf& shelf) {
    auto& held = shelf.held;
    Block* const block = shelf.take(number);
    const auto size = block ? block->size : size_of(number);
    if (shelf.limit > 0 && held.used + size + shelf.elsewhere > shelf.limit) {
      if (block) shelf.keep(block);
      shelf.throw_beyond(name_, bytes);
    }
    held.used += size;
    // What is new replaces what is kept, and does not add to it.
    const auto most = shelf.limit > 0 ? std::min(held.most, shelf.limit - shelf.elsewhere) : held.most;
    if (!block) dropped = shelf.remove_beyond(most > held.used ? most - held.used : 0);
    held.most = std::max(held.most, held.used);
    return block;
  });
  free_all(dropped);
  return found ? found : replace_kept(size_of(number));
}

/// One that counts as used already.
StepMemory::Block* StepMemory::replace_kept(std::size_t size) {
  try {
    try {
      return fresh(size);
    } catch (const c10::Error&) {
      free_kept();
      return fresh(size);
    }
  } catch (...) {
    shelf_.with([size](Shelf& shelf) {
      shelf.held.used -= size;
      shelf.held.most = shelf.held.used;
    });
    throw;
  }
}

OutsideMemoryLimit::OutsideMemoryLimit() {
  ++outside_limit;
}

OutsideMemoryLimit::~OutsideMemoryLimit() {
  --outside_limit;
}

void keep_step_memory(std::size_t most, std::size_t elsewhere) {
  step_memory().limit(most, elsewhere);
  c10::SetCPUAllocator(&step_memory());
  std::set_new_handler([] {
    if (!free_all_kept()) throw std::bad_alloc();
  });
}

Result<void> set_up_step_memory(const Task& task, double megabytes, Bytes sample) {
  const Bytes most = bytes_of(megabytes);
  const auto device = task.device();
  const auto weights = size_of(task.weights());
  const Bytes least{weights.value + kCopiesOfTrained * size_of(task.trained()).value};
  if (most.value > 0 && most.value <= least.value + sample.value)
    return fail(Fault::usage,
                "device-memory: " + memory_text(most) +
                    " hold no batch: weights, gradients and AdamW's averages take " + memory_text(least) +
                    (sample.value > 0 ? ", and one sample " + memory_text(sample) + " or more beside" : std::string()),
                "Allow more, or take a smaller model");
  if (device.is_cuda()) return most.value > 0 ? limit_gpu("device-memory", device, most) : Result<void>();
  keep_step_memory(static_cast<std::size_t>(most.value), static_cast<std::size_t>(weights.value));
  return {};
}

void count_as_data_memory() {
  own_memory = &data_memory();
}

Result<void> set_up_data_memory(const Task& task, double megabytes, Bytes need) {
  const Bytes most = bytes_of(megabytes);
  if (most.value == 0) return {};
  constexpr std::int64_t kHalfMegabyte = 500'000;  // so that what is named is enough
  if (most.value < need.value)
    return fail(Fault::usage,
                "data-gpu-memory: " + bytes_text(most) + " hold no training: its largest batch takes " +
                    memory_text(Bytes{need.value + kHalfMegabyte}) + ", with those that wait for their step",
                "Allow more, or take a smaller batch-size or ring-depth");
  const auto device = task.data_stage().device;
  if (device.is_cpu()) {
    data_memory().limit(static_cast<std::size_t>(most.value));
    return {};
  }
  if (device == task.device())
    return fail(Fault::usage, "data-gpu-memory: the data device is the network's, and a GPU has one limit",
                "Limit both together with " + field("device_memory"));
  return limit_gpu("data-gpu-memory", device, most);
}

StepMemory::Held held_data_memory() {
  return data_memory().held();
}

StepMemory::Held held_step_memory() {
  return step_memory().held();
}

void free_step_memory() {
  free_all_kept();
}

}  // namespace tutti
