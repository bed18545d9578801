#pragma once

#include <cstddef>
#include <vector>

#include "base/units.h"

namespace tutti {

/// Reads of 5 ms, of which one in fifty, anywhere among them, stalls for 300 ms more.
inline std::vector<Seconds> stalling_reads(std::size_t count) {
  std::vector<Seconds> reads(count, Seconds(0.005));
  for (std::size_t block = 0; 50 * block < count; ++block)
    reads[50 * block + (37 * block * block + 11 * block + 7) % 50] += Seconds(0.3);
  return reads;
}

}  // namespace tutti
