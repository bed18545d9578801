#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "audio/audio_choice.h"
#include "base/error.h"
#include "cli/settings/option_table.h"

namespace tutti {

/// Which part of a file is decoded.
struct AudioFlags {
  std::optional<std::int32_t> track{};
  std::optional<std::string> channel{};
};

/// Binds --track and --channel.
void add_audio(OptionTable& table, AudioFlags& flags);

/// Fault::usage names the flag, what was expected and what was found.
Result<AudioChoice> audio_choice(const AudioFlags& flags);

}  // namespace tutti
