#pragma once

#include "base/error.h"

namespace tutti {

/// A port of this machine that nobody listens at now: the system hands out another one at every call.
Result<int> free_port();

}  // namespace tutti
