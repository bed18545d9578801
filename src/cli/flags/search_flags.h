#pragma once

#include <cstdint>
#include <optional>

#include "cli/settings/option_table.h"
#include "transcribe/remote_windows.h"

namespace tutti {

/// How the most probable text is looked for, in openai-whisper's names and with its defaults on the command line.
struct SearchFlags {
  std::optional<std::int32_t> best_of = 5;
  std::optional<std::int32_t> beam_size = 5;
  std::optional<double> patience{};
  std::optional<double> length_penalty{};
};

/// Binds every field to its flag.
void add_search(OptionTable& table, SearchFlags& flags);

/// Writes the flags into `options`; an error names the flag that is not valid.
Result<void> set_search(const SearchFlags& flags, DecodingOptions& options);

}  // namespace tutti
