#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace tutti {

/// A flag among the words of a command line that is read before its table, and its value, where it has one.
struct FlagWord {
  std::string name{};  // with hyphens, without prefix; empty: the word is no such flag
  std::optional<std::string> value{};
  std::size_t words = 1;  // that it takes
};

/// The flag at words[i] that begins with "--" and `prefix`, with the next word as its value where that is none itself.
FlagWord flag_at(const std::vector<std::string>& words, std::size_t i, const std::string& prefix);

/// A command line without the settings of PyTorch's DataLoader and of field note 003's trainer, and what to say of
/// each.
struct LoaderFlags {
  std::vector<std::string> words{};    // the others, and what replaces these
  std::vector<std::string> answers{};  // one line for each flag that was there
};

/// Takes an answer, one line for people.
using OnAnswer = std::function<void(const std::string& answer)>;

/// The names that `without_loader_flags` takes, with hyphens and the prefix, without "--".
std::vector<std::string> loader_flag_names(const std::string& prefix);
/// Those that `in_voice_names` takes.
std::vector<std::string> note_flag_names();

/// Fault::usage where `words` also have the flag `ours`, which `shown` becomes, with another value: one of the two
/// would silently win.
Result<void> expect_no_other(const std::string& shown, const std::string& ours, const std::string& value,
                             const std::vector<std::string>& words);

/// Takes --num_workers, --prefetch_factor, --pin_memory, --persistent_workers, --stage_dir, --profile_performance and
/// --profile_gpu_util (hyphens count as underscores, `prefix` may precede: "dataloader_") out of the words. What they
/// are for is done another way here, and the answers say how; prefetch_factor becomes the ring's depth. `bytes`: of a
/// batch, for what a depth takes of memory; 0: not known. With a prefix num_workers
/// stays: trainer_names.h has it. Fault::usage for a value that the flag cannot have, and for a depth beside another
/// --ring-depth. Pure.
Result<LoaderFlags> without_loader_flags(const std::vector<std::string>& words, const std::string& prefix,
                                         std::int64_t batch_bytes);

/// The same of field note 002's trainer: --lr, --grad-accum, --checkpoint-dir, --model-gpu, --prefetch-buffer-size, ...
/// become our names; those whose work is done another way are answered; all other words stay as they are. Fault::usage
/// for flags of what there is not: limits of a data device, another vocoder; and for one beside our own flag with
/// another value: --checkpoint-dir beside --out. Pure.
Result<LoaderFlags> in_voice_names(const std::vector<std::string>& words);

/// The settings of field note 002's trainer that have another name here, both with hyphens: "lr" is "learning-rate".
std::map<std::string, std::string, std::less<>> note_names();
/// That trainer's number of a GPU as we name it: "1" is "cuda:1"; other texts stay. Pure.
std::string note_device(const std::string& value);

/// What replaces a setting of DataLoader's, or of field note 002's trainer, by its name with hyphens, where it has no
/// name of ours: "no effect: ...". None for any other name. Pure.
std::optional<std::string> loader_answer(const std::string& name);
std::optional<std::string> note_answer(const std::string& name);

}  // namespace tutti
