#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "audio/augment/augmentation.h"
#include "base/error.h"

namespace tutti {

/// Fault::usage names the first of --out, --count and --threads that is missing or out of range. `command`, as in
/// "synth leaks", is the one whose help the error points to.
Result<void> check_corpus_flags(const std::filesystem::path& out, std::uint64_t count, std::int32_t threads,
                                const std::string& command);

/// The LEAST:MOST that a corpus's flag takes, as in "0:10"; none for an empty text. Fault::usage names the flag.
Result<std::optional<Between>> range_of_flag(const std::string& flag, const std::string& text);

}  // namespace tutti
