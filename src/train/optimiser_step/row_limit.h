#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/units.h"

namespace tutti {

/// What came of memory that ran out in a process: how many rows it computes together since, and where that was so.
struct RowLimit {
  std::int64_t rows = 0;  // 0: as many as a batch has
  Bytes memory{};         // what there was (memory_for)
};

/// The memory of a GPU; on a CPU what this process may have (`ulimit -v`). 0: no limit is known.
Bytes memory_for(at::Device device);

/// Whether a limit may be forgotten: there is more by a twentieth. GPUs of one kind, and one GPU under two drivers,
/// differ by less, which is not enough for another row.
bool has_more(Bytes now, Bytes before);

/// "ROWS of BYTES", as processes tell each other and checkpoints keep it, and back. Throws std::invalid_argument for
/// anything else.
std::string show_row_limit(const RowLimit& limit);
RowLimit read_row_limit(std::string_view text);

}  // namespace tutti
