#pragma once

#include <string_view>

#include "transcript/writers.h"

namespace tutti {

/// Whether an output file that format_transcript made has any text in it.
bool output_has_text(std::string_view content, Format format);

}  // namespace tutti
