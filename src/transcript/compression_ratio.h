#pragma once

#include <string_view>

namespace tutti {

/// Bytes of `utf8` over bytes of its zlib compression at the default level (openai-whisper's utils.py). Loops compress
/// well: above 2.4 the reference does not believe a text. 0 for an empty text.
double compression_ratio(std::string_view utf8);

}  // namespace tutti
