#pragma once

#include <string>

#include "base/units.h"

namespace tutti {

/// "0:12:34.5-0:12:41.0": where to listen, always with hours, so that a column of them sorts.
std::string position_text(Seconds start, Seconds end);

}  // namespace tutti
