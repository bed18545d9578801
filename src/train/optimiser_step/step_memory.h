#pragma once

#include <c10/core/Allocator.h>

#include <array>
#include <cstddef>

#include "base/guarded.h"

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

  StepMemory() = default;
  StepMemory(const StepMemory&) = delete;
  StepMemory& operator=(const StepMemory&) = delete;
  ~StepMemory() override;  ///< all tensors of it are gone

  /// Aligned as torch's own, not initialised. Where memory runs out, what is kept is freed first; then throws what
  /// torch's own allocator does (is_out_of_memory).
  c10::DataPtr allocate(std::size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* to, const void* from, std::size_t bytes) const override;
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
    void keep(Block* block);
    /// The largest until no more than so many bytes are left, as a list.
    Block* remove_beyond(std::size_t bytes);

    Held held{};
    std::array<Block*, kSizes> free{};
  };

  static void release(void* data);
  static void free_all(Block* list);
  Block* fresh(std::size_t size);
  Block* take(std::size_t bytes);
  Block* replace_kept(std::size_t size);

  Guarded<Shelf> shelf_;
};

/// From now on every tensor of this process on the CPU has its memory from one StepMemory, which frees kept blocks for
/// whatever is made by operator new.
void keep_step_memory();

/// What those tensors hold; nothing before keep_step_memory. `most`: since memory was freed last.
StepMemory::Held held_step_memory();

/// Where that memory ran out for something else (what oneDNN works in, say).
void free_step_memory();

}  // namespace tutti
