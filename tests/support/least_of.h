#pragma once

#include <algorithm>

#include "base/units.h"

namespace tutti {

/// The shortest time that `take()` reports, in up to three tries, the first one below `limit` being the last. A program
/// that is late is late every time; other work on the machine delays some tries.
template <class Take>
Seconds least_of_three(Seconds limit, Take take) {
  Seconds least = take();
  for (int tries = 1; tries < 3 && least >= limit; ++tries) least = std::min(least, Seconds(take()));
  return least;
}

}  // namespace tutti
