#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "feed/voice/voice_set.h"

namespace tutti {

/// The format as JSON, as a set keeps it.
std::string show_voice_format(const VoiceFormat& format);

/// And back; Fault::corrupt names the key that is missing or cannot be.
Result<VoiceFormat> read_voice_format(std::string_view json);

}  // namespace tutti
