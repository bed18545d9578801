#pragma once

#include <string_view>

namespace tutti {

/// Is the whole text one that Whisper models are known to say to silence (subtitlers' credits, farewells of videos)?
/// People say most of these, too: evidence beside other evidence, never proof.
bool is_phantom(std::string_view text);

}  // namespace tutti
