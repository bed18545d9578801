#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace tutti {

/// A command line with the flags of field note 002's trainer in our names, and what to say of those that have nothing
/// to do here.
struct NoteFlags {
  std::vector<std::string> words{};
  std::vector<std::string> answers{};  // one line for each flag that was there
};

/// Puts --lr, --grad-accum, --checkpoint-dir, --model-gpu, --prefetch-buffer-size, ... into our names; answers those
/// whose work is done another way; all other words stay as they are. Fault::usage for flags that ask for what there is
/// not: limits of memory, another vocoder, a model size that has a name in another program. Pure.
Result<NoteFlags> in_voice_names(const std::vector<std::string>& words);

}  // namespace tutti
