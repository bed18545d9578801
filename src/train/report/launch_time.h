#pragma once

#include "base/units.h"

namespace tutti {

/// Processor time so far of the threads that launch the work of steps: the calling one, which must be the training's,
/// and torch's own for the backward pass. On a processor that computes the steps itself it is the time of that, too.
Seconds launch_time();

}  // namespace tutti
