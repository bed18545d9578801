#pragma once

#include <string>

#include "train/optimiser_step/step.h"

namespace tutti {

/// What a GPU of that compute capability (75: Turing) lacks for products in that precision, for people; empty: nothing,
/// or the capability is not known (0).
std::string unsupported_reason(StepPrecision precision, int capability);

}  // namespace tutti
