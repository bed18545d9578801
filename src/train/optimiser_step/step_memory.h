#pragma once

#include <c10/core/Allocator.h>

#include <array>
#include <cstddef>

#include "base/error.h"
#include "base/guarded.h"
#include "base/units.h"
#include "train/task.h"

namespace tutti {

/// Memory of a training's tensors on a CPU, kept from step to step. The C library returns a large block to the system
/// when it is freed, and the next step has each of its pages cleared and mapped again: a tenth of the step's time. A
/// step requests what the step before it requested, so released blocks wait here for the next request of about their
/// size. Never holds more than were in use at once since it began or since memory last ran out. Thread-safe.
class StepMemory final : public c10::Allocator {
 public:
  static constexpr std::size_t kSmallestKept = std::size_t{64} << 10;  ///< bytes; smaller ones are the C library's

  /// Bytes.
  struct Held {
    std::size_t used = 0;  ///< by tensors
    std::size_t kept = 0;  ///< for the next
    std::size_t most = 0;  ///< that were used at once
  };

  /// `name`: of the setting that limits it, for errors.
  explicit StepMemory(const char* name = "device-memory") : name_(name) {}
  StepMemory(const StepMemory&) = delete;
  StepMemory& operator=(const StepMemory&) = delete;
  ~StepMemory() override;  ///< all tensors of it are gone

  /// Aligned as torch's own, not initialised. Where memory runs out, what is kept is freed first; then throws what
  /// torch's own allocator does (is_out_of_memory).
  c10::DataPtr allocate(std::size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* to, const void* from, std::size_t bytes) const override;
  /// From now on, no more than `most` bytes are used and kept together, of which `elsewhere` are used outside of this;
  /// a request beyond that throws as above. Blocks below kSmallestKept do not count, nor what OutsideMemoryLimit
  /// covers. `most` 0: no limit.
  void limit(std::size_t most, std::size_t elsewhere = 0);
  /// Memory ran out: what is kept goes back to the system. Returns whether that was anything.
  bool free_kept();
  Held held() const;

 private:
  struct Block;
  /// Unused blocks, each the head of its list, by the number of their size. Lists run through the blocks themselves:
  /// returning one takes no memory, for there may be none left.
  struct Shelf {
    static constexpr std::size_t kSizes = 8 * 32;  // 64 KiB to 256 TiB

    Block* take(std::size_t number);
    [[noreturn]] void throw_beyond(const char* name, std::size_t bytes) const;
    void keep(Block* block);
    /// The largest until no more than so many bytes are left, as a list.
    Block* remove_beyond(std::size_t bytes);

    Held held{};
    std::size_t limit = 0;      // bytes; 0: none
    std::size_t elsewhere = 0;  // part of `limit`, used outside of this
    std::array<Block*, kSizes> free{};
  };

  static void release(void* data);
  static void free_all(Block* list);
  Block* uncounted(std::size_t size);
  Block* fresh(std::size_t size);
  Block* take(std::size_t bytes);
  Block* replace_kept(std::size_t size);

  const char* name_;
  Guarded<Shelf> shelf_;
};

/// As long as it exists, tensors that this thread makes are outside a limit, and are not kept: copies for a checkpoint,
/// which belong to the host and not to the network's device.
class OutsideMemoryLimit {
 public:
  OutsideMemoryLimit();
  OutsideMemoryLimit(const OutsideMemoryLimit&) = delete;
  OutsideMemoryLimit& operator=(const OutsideMemoryLimit&) = delete;
  ~OutsideMemoryLimit();
};

/// From now on every tensor of this process on the CPU has its memory from one StepMemory, which frees kept blocks for
/// whatever is made by operator new. `most`, `elsewhere`: StepMemory::limit.
void keep_step_memory(std::size_t most = 0, std::size_t elsewhere = 0);

/// From now on the tensors of a training take no more than so many megabytes of the task's device; 0: no limit. A
/// request beyond that throws what is_out_of_memory recognises, and TrainStep then splits batches. On a CPU that is
/// keep_step_memory(), and the weights, which the task has already, count. On a GPU it is the limit of torch's
/// allocator: the CUDA context and what libraries take for themselves lie outside. Fault::usage where no batch could
/// fit, with what weights, gradients and averages take, or the GPU has less. `sample`: what a step holds of one sample
/// at least, beside those; 0: not known.
Result<void> set_up_step_memory(const Task& task, double megabytes, Bytes sample = {});

/// From now on the tensors that the calling thread makes on a CPU are counted and kept apart from those of the steps,
/// as a data device's. With keep_step_memory.
void count_as_data_memory();

/// From now on the tensors of a task's data stage take no more than so many megabytes of its device; 0: no limit. On a
/// CPU those of threads that count as data memory, the batches that are ready for a network on the CPU included; on a
/// GPU as set_up_step_memory. Fault::usage where that is less than the largest batch takes (`need`), with that, or
/// where the data device is the network's GPU, which has one limit.
Result<void> set_up_data_memory(const Task& task, double megabytes, Bytes need);

/// What those tensors hold, as held_step_memory.
StepMemory::Held held_data_memory();

/// What those tensors hold; nothing before keep_step_memory. `most`: since memory was freed last.
StepMemory::Held held_step_memory();

/// Where that memory ran out for something else (what oneDNN works in, say).
void free_step_memory();

}  // namespace tutti
