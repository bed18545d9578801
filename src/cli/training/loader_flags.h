#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace tutti {

/// A command line without the settings of PyTorch's DataLoader and of field note 003's trainer, and what to say of
/// each.
struct LoaderFlags {
  std::vector<std::string> words{};    // the others, and what replaces these
  std::vector<std::string> answers{};  // one line for each flag that was there
};

/// Takes --num_workers, --prefetch_factor, --pin_memory, --persistent_workers, --stage_dir, --profile_performance and
/// --profile_gpu_util (hyphens count as underscores, `prefix` may precede: "dataloader_") out of the words. What they
/// are for is done another way here, and the answers say how; prefetch_factor becomes the ring's depth. `bytes`: of a
/// batch, for what a depth takes of memory; 0: not known. With a prefix num_workers
/// stays: trainer_names.h has it. Fault::usage for a value that is no whole number where one is
/// needed. Pure.
Result<LoaderFlags> without_loader_flags(const std::vector<std::string>& words, const std::string& prefix,
                                         std::int64_t batch_bytes);

}  // namespace tutti
