#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "audio/augment/augmentation.h"
#include "base/error.h"

namespace tutti {

/// The folder of a corpus that is made by rules: parts in folders of its own, and a list that makes it whole.
struct CorpusFolder {
  std::filesystem::path out{};           ///< made when missing
  std::span<const char* const> parts{};  ///< folders below `out` that the corpus writes into
  std::string list{};                    ///< the file that `write` writes last: with it
                                         ///< the corpus is whole
};

/// Makes the folders and calls `write`, while no other process writes a corpus there: a lock file in `out`, which goes
/// once the corpus is whole. What a killed process had begun is written again.
///
/// Fault::usage for a folder that holds a corpus or other files already; Fault::refused where another process is
/// writing one into it; else what `write` returns.
Result<void> write_corpus(const CorpusFolder& folder, const std::function<Result<void>()>& write);

/// The LEAST:MOST that a corpus's flag takes, as in "0:10"; none for an empty text. Fault::usage names the flag.
Result<std::optional<Between>> range_of_flag(const std::string& flag, const std::string& text);

}  // namespace tutti
