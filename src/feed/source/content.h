#pragma once

#include <cstdint>

#include "feed/source/dataset.h"

namespace tutti {

/// A digest of what the first `lines` lines of a set say, wherever it lies: ids, texts (read where a transcript holds
/// them), the parts of the files, and the sizes of the files, which stand for their sound. Asks the file system for
/// every file, some microseconds each.
std::uint64_t content_of(const Dataset& set, std::int64_t lines);

}  // namespace tutti
