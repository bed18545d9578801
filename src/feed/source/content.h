#pragma once

#include <cstdint>

#include "feed/source/dataset.h"

namespace tutti {

/// A digest of what the first `lines` lines of a set hold, wherever it is stored: ids, texts (read where a transcript
/// holds them), the parts of the files, and the sizes of the files, which represent their audio. Queries the file
/// system for every file, some microseconds each.
std::uint64_t content_of(const Dataset& set, std::int64_t lines);

}  // namespace tutti
