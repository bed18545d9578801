#pragma once

#include "base/units.h"

namespace tutti {

/// Resident memory, at its peak so far, of the largest process that this one has started and that still lives; 0
/// without any.
Bytes largest_child();

}  // namespace tutti
